// fasthttp on one processor. peer-fasthttp --port N
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/valyala/fasthttp"
)

var body = []byte("Hello, World!")

func answer(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/plain")
	if string(ctx.Path()) != "/plaintext" {
		ctx.SetStatusCode(fasthttp.StatusNotFound)
		return
	}
	ctx.SetBody(body)
}

func main() {
	port := flag.Int("port", 0, "to listen on")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-ending
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening on 127.0.0.1:%d\n", *port)
	server := fasthttp.Server{Handler: answer, Name: "fasthttp"}
	fmt.Fprintln(os.Stderr, server.Serve(listener))
	os.Exit(1)
}
