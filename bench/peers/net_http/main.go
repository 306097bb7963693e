// net/http on one processor. peer-net-http --port N
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

var body = []byte("Hello, World!")

func answer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Server", "net/http")
	_, _ = w.Write(body)
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
	routes := http.NewServeMux()
	routes.HandleFunc("GET /plaintext", answer)
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening on 127.0.0.1:%d\n", *port)
	fmt.Fprintln(os.Stderr, http.Serve(listener, routes))
	os.Exit(1)
}
