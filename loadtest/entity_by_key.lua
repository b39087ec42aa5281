-- wrk: one entity by a random key of 1..1000000.
local base = 0
function setup(thread)
    thread:set("seed", base)
    base = base + 1
end
function init()
    math.randomseed(os.time() + seed)
end
function request()
    return wrk.format("GET", "/events(" .. math.random(1, 1000000) .. ")")
end
