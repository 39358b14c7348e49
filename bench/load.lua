-- wrk -s load.lua URL -- FILE DELAY_MS: the requests of FILE in turn, each a line `GET PATH` or `POST PATH BODY`. Every connection waits
-- for a random time, DELAY_MS in the mean, before each. Ends with one line of JSON.
local requests = {}
local next = 0

function init(args)
  for line in io.lines(args[1]) do
    local path, body = line:match("^POST (%S+) (.+)$")
    if path then
      requests[#requests + 1] = wrk.format("POST", path, { ["Content-Type"] = "application/json" }, body)
    else
      requests[#requests + 1] = wrk.format("GET", line:match("^GET (%S+)$"))
    end
  end
  local mean = tonumber(args[2])
  if mean > 0 then
    delay = function() return math.floor(2 * mean * math.random() + 0.5) end
  end
end

function request()
  next = next % #requests + 1
  return requests[next]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests": %d, "seconds": %.6f, "bytes": %d, "failed": %d, "p50_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f}',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
