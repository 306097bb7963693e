module peer-net-http

go 1.26
