"""`make demo`: what can go wrong is one clear sentence, and Ctrl-C leaves nothing behind."""
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile

from support import HERE, Skipped, free_port, need, wait_for

SCRIPT = os.path.join(HERE, "..", "..", "loadtest", "demo.sh")


class Demo:
    """A run of the script with a folder of its own, in a process group of its own, as a terminal does."""

    def __init__(self, env, folder, port=None, **variables):
        if not os.path.samefile(env.binary, os.path.join(HERE, "..", "..", "build", "sluice")):
            raise Skipped("the demo starts build/sluice, which is not what is tested here")
        self.folder = folder
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "MAKE", "SLUICE_")) or k == "PGTEST_USER"}
        kept.update(DEMO_DIR=folder, PORT=str(port or free_port()), **variables)
        self.process = subprocess.Popen([SCRIPT], env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, start_new_session=True)
        self.said = ""

    def wait_for(self, text):
        """Reads on until a line with text has come."""
        for line in self.process.stdout:
            self.said += line
            if text in line:
                return
        need(False, f"'{text}' was not said: {self.said}")

    def ends_by_ctrl_c(self):
        """Presses it once more; whether the script has ended. Most people press it more than once."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        return self.process.poll() is not None

    def end(self, seconds=60):
        """The rest of what is said, and the exit status."""
        self.said += self.process.communicate(timeout=seconds)[0]
        return self.process.returncode

    def left_behind(self):
        """Command lines of processes that know the demo's folder."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    line = f.read().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if self.folder in line:
                found.append(line)
        return found


class Folder:
    """A folder that the user who runs PostgreSQL can enter."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="sluice-demo-test.")
        os.chmod(self.path, 0o755)
        return os.path.join(self.path, "demo")

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def fails_with(demo, sentence):
    status = demo.end()
    need(status == 1, f"status {status}: {demo.said}")
    lines = [line for line in demo.said.splitlines() if line.startswith("make demo: ")]
    need(len(lines) == 1 and sentence in lines[0], f"not one line with '{sentence}': {demo.said}")
    need(not demo.left_behind(), f"left behind: {demo.left_behind()}")


def test_a_port_in_use_is_named(env):
    with Folder() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        fails_with(Demo(env, folder, port), f"port {port} is in use")


def test_a_port_that_is_none_is_refused(env):
    with Folder() as folder:
        fails_with(Demo(env, folder, "80a"), "PORT=80a is no port")


def test_a_missing_package_that_cannot_be_installed(env):
    with Folder() as folder, tempfile.TemporaryDirectory() as programs:
        # All that is there but curl, apt-get, and sudo.
        for name in set(os.listdir("/usr/bin")) - {"curl", "apt-get", "sudo"}:
            os.symlink(os.path.join("/usr/bin", name), os.path.join(programs, name))
        fails_with(Demo(env, folder, PATH=programs), "packages are missing")


def test_a_cluster_that_does_not_start_says_why(env):
    with Folder() as folder:
        data = os.path.join(folder, "data")
        os.makedirs(data, mode=0o700)
        with open(os.path.join(data, "PG_VERSION"), "w", encoding="ascii") as f:
            f.write("9.0\n")
        if os.geteuid() == 0:
            user = pwd.getpwnam(os.environ.get("PGTEST_USER", "postgres"))
            for path in (folder, data, os.path.join(data, "PG_VERSION")):
                os.chown(path, user.pw_uid, user.pw_gid)
        fails_with(Demo(env, folder), "the cluster does not start: ")


def test_ctrl_c_leaves_nothing_behind(env):
    for stage in ("Making a private PostgreSQL cluster", "Loading the sample data"):
        with Folder() as folder:
            demo = Demo(env, folder)
            demo.wait_for(stage)
            # No faster than people press it: each makes psql cancel its query on a connection of its own.
            wait_for(demo.ends_by_ctrl_c, 120, f"Ctrl-C ends '{stage}'", pause=0.5)
            wait_for(lambda: not demo.left_behind(), 10, f"nothing is left of '{stage}': {demo.left_behind()}")
