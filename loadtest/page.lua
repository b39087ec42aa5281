-- wrk: a page of 20 by filter and order on an index, of a random kind and start.
local base = 0
function setup(thread)
    thread:set("seed", base)
    base = base + 1
end
-- All texts are made before the clock runs: what is measured is the service, not wrk's formatting.
local pages = {}
function init()
    math.randomseed(os.time() + seed)
    for kind = 0, 16 do
        for month = 1, 3 do
            pages[#pages + 1] = wrk.format("GET", string.format(
                "/events?$filter=kind%%20eq%%20%%27kind-%d%%27%%20and%%20happened_at%%20ge%%202024-%02d-01T00:00:00Z" ..
                "&$orderby=happened_at,id&$top=20", kind, month))
        end
    end
end
function request()
    return pages[math.random(1, #pages)]
end
