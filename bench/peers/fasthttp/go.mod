module peer-fasthttp

go 1.26

require github.com/valyala/fasthttp v1.78.0
