-- Sends `depth` requests in one write: wrk -s pipeline.lua URL -- DEPTH [browser]
-- "browser" gives each request the twelve headers of a browser, otherwise it has a Host alone.
local batch

function init(args)
   local depth = tonumber(args[1]) or 16
   if args[2] == "browser" then
      for line in io.lines(args[3]) do
         local name, value = line:match("^([^:]+): (.*)$")
         if name then wrk.headers[name] = value end
      end
   end
   local one = wrk.format(nil)
   batch = string.rep(one, depth)
end

function request()
   return batch
end
