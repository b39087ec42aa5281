"""What PostgreSQL says becomes a status: SQLSTATEs that a real database raises while it reads rows."""
from support import check_error_body, get, need, wait_for

# As storage/pg_error.c has it: whole codes, and one of each class that has a row of its own.
STATES = {
    "57014": (504, "DatabaseTimeout"), "40001": (503, "DatabaseBusy"), "40P01": (503, "DatabaseBusy"),
    "40002": (503, "DatabaseBusy"), "55P03": (503, "DatabaseBusy"), "55006": (503, "DatabaseBusy"),
    "55000": (503, "DatabaseBusy"), "53300": (503, "DatabaseUnavailable"), "53100": (503, "DatabaseUnavailable"),
    "57P03": (503, "DatabaseUnavailable"), "08006": (503, "DatabaseUnavailable"), "28000": (503, "DatabaseUnavailable"),
    "3D000": (503, "DatabaseUnavailable"), "54001": (400, "RequestTooComplex"), "54000": (400, "RequestTooComplex"),
    "42501": (403, "Forbidden"), "22012": (400, "BadValue"), "22003": (400, "BadValue"), "22008": (400, "BadValue"),
    "22P02": (400, "BadValue"), "22021": (500, "BadData"), "2201B": (400, "BadValue"), "22023": (400, "BadValue"),
    "23505": (409, "Conflict"), "42P01": (503, "ModelChanged"), "42703": (503, "ModelChanged"),
    "42883": (503, "ModelChanged"), "0A000": (501, "NotImplemented"), "0A001": (501, "NotImplemented"),
    "XX000": (500, "InternalError"), "P0001": (500, "InternalError"),
}
SQL = """
CREATE FUNCTION raise(state text) RETURNS int LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'a secret of the database' USING ERRCODE = state, DETAIL = 'secret', HINT = 'secret'; END $$;
"""


def test_each_class_of_sqlstate_has_its_status(env):
    views = "".join(f'CREATE VIEW "v{s}" AS SELECT 1 AS id, raise(\'{s}\') AS x;\n' for s in STATES)
    daemon = env.daemon(env.database(SQL + views), entities={f"public.v{s}": {"key": ["id"]} for s in STATES})
    wrong = []
    for state, wanted in STATES.items():
        answer = get(daemon, f"/v{state}")
        check_error_body(answer)
        got = (answer.status, answer.json()["error"]["code"])
        if got != wanted:
            wrong.append(f"{state}: {got}, not {wanted}")
        need(b"secret" not in answer.body, f"{state}: PostgreSQL's words go out: {answer.body}")
        need((answer.header("Retry-After") is not None) == (answer.status == 503), f"{state}: Retry-After of {answer.status}")
    need(not wrong, "; ".join(wrong))
    for state, (status, _) in STATES.items():
        if status >= 500 and status != 501:  # that is the request
            wait_for(lambda state=state: f"sqlstate={state}" in daemon.log(), 5, f"{state} is in the log")
