// What the server of Go's net/http makes of bytes on a connection, in the language of request_reader.cpp. Its connections are in memory:
// they give a byte at a time, then their end, so that a request that is not whole is seen at once.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	inputBytesMax  = 1 << 20
	connectionsMax = 2000 // at once: the server lingers for half a second behind a refusal
)

type message struct {
	Method  string      `json:"method"`
	Target  string      `json:"target"`
	Version string      `json:"version,omitempty"`
	Host    *string     `json:"host,omitempty"`
	Set     [][2]string `json:"set,omitempty"`
	Body    *string     `json:"body,omitempty"`
	Keep    *bool       `json:"keep,omitempty"`
}

type answer struct {
	Messages []message `json:"messages"`
	End      string    `json:"end"`
	Why      string    `json:"why"`
	Status   int       `json:"status,omitempty"`
}

// A string with a code point for each byte.
func latin(s string) string {
	runes := make([]rune, len(s))
	for i := range runes {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

type connection struct {
	left   []byte
	output bytes.Buffer
	told   answer
	closed chan struct{}
	isShut bool
	wanted bool // more than there was
}

func (c *connection) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if len(c.left) == 0 {
		c.wanted = true
		return 0, io.EOF
	}
	b[0] = c.left[0]
	c.left = c.left[1:]
	return 1, nil
}

func (c *connection) Write(b []byte) (int, error) { return c.output.Write(b) }

func (c *connection) Close() error {
	if !c.isShut {
		c.isShut = true
		close(c.closed)
	}
	return nil
}

type nowhere struct{}

func (nowhere) Network() string { return "memory" }
func (nowhere) String() string  { return "127.0.0.1:1" }

func (c *connection) LocalAddr() net.Addr              { return nowhere{} }
func (c *connection) RemoteAddr() net.Addr             { return nowhere{} }
func (c *connection) SetDeadline(time.Time) error      { return nil }
func (c *connection) SetReadDeadline(time.Time) error  { return nil }
func (c *connection) SetWriteDeadline(time.Time) error { return nil }

type listener struct{ connections chan net.Conn }

func (l listener) Accept() (net.Conn, error) {
	c, ok := <-l.connections
	if !ok {
		return nil, io.EOF
	}
	return c, nil
}
func (l listener) Close() error   { return nil }
func (l listener) Addr() net.Addr { return nowhere{} }

type key struct{}

func serve(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(key{}).(*connection)
	made := message{Method: latin(r.Method), Target: latin(r.RequestURI), Version: strings.TrimPrefix(r.Proto, "HTTP/")}
	keep := !r.Close
	made.Keep = &keep
	w.Header().Set("X-Read", "1")
	// Another target overrules the field.
	if host := latin(r.Host); strings.HasPrefix(r.RequestURI, "/") {
		made.Host = &host
	}
	if r.Method == "CONNECT" {
		c.told.End = "tunnel"
		w.Header().Set("Connection", "close")
	} else {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			c.told.End, c.told.Why = "refused", err.Error()
			// Unfinished trailers have words of their own.
			if errors.Is(err, io.ErrUnexpectedEOF) || c.wanted && strings.Contains(err.Error(), "trailer") {
				c.told.End, c.told.Why = "more", ""
			}
			panic(http.ErrAbortHandler)
		}
		body := latin(string(content))
		made.Body = &body
	}
	made.Set = [][2]string{}
	for name, values := range r.Header {
		for _, value := range values {
			made.Set = append(made.Set, [2]string{strings.ToLower(latin(name)), latin(value)})
		}
	}
	sort.Slice(made.Set, func(i, j int) bool {
		a, b := made.Set[i], made.Set[j]
		return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
	})
	c.told.Messages = append(c.told.Messages, made)
	if made.Method != "CONNECT" && !keep {
		c.told.End = "closed"
	}
}

// Before 1.20 Go answers "OPTIONS *" itself, by the head alone. Such a request is put where its answer is; what follows is left out.
func upToOptions(told answer, output []byte) answer {
	for i, each := range regexp.MustCompile(`HTTP/1\.[01] 200 OK\r\n(?:[^\r]+\r\n)*\r\n`).FindAll(output, -1) {
		if !bytes.Contains(each, []byte("X-Read")) && i <= len(told.Messages) {
			told.Messages = append(told.Messages[:i:i], message{Method: "OPTIONS", Target: "*"})
			told.End, told.Why = "tunnel", ""
			break
		}
	}
	return told
}

// The last answer that the server gave by itself, if it is a refusal.
func refusal(output []byte) (int, string) {
	at := bytes.LastIndex(output, []byte("HTTP/1."))
	if at < 0 {
		return 0, ""
	}
	answer := output[at+9:]
	status, err := strconv.Atoi(string(answer[:3]))
	if err != nil || status < 400 {
		return 0, ""
	}
	head, content, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
	if len(content) == 0 {
		content, _, _ = bytes.Cut(head, []byte("\r\n"))
	}
	return status, string(content)
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	var connections []*connection
	for {
		var size uint32
		if err := binary.Read(in, binary.LittleEndian, &size); err != nil {
			break
		}
		if size > inputBytesMax {
			log.Fatal("an input is too long")
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			log.Fatal(err)
		}
		connections = append(connections, &connection{left: data, closed: make(chan struct{}), told: answer{Messages: []message{}}})
	}

	at := listener{make(chan net.Conn)}
	server := &http.Server{
		Handler:     http.HandlerFunc(serve),
		ErrorLog:    log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, key{}, c) },
	}
	if field := reflect.ValueOf(server).Elem().FieldByName("DisableGeneralOptionsHandler"); field.IsValid() {
		field.SetBool(true)
	}
	go server.Serve(at)
	for i, c := range connections {
		if i >= connectionsMax {
			<-connections[i-connectionsMax].closed
		}
		at.connections <- c
	}
	encoder := json.NewEncoder(out)
	encoder.Encode(map[string]string{"name": "go", "version": strings.TrimPrefix(runtime.Version(), "go")})
	for _, c := range connections {
		<-c.closed
		if status, why := refusal(c.output.Bytes()); status != 0 {
			c.told.End, c.told.Why, c.told.Status = "refused", why, status
			// An unfinished head is refused at the end of the connection, without words.
			if c.wanted && why == "400 Bad Request" {
				c.told.End, c.told.Why, c.told.Status = "more", "", 0
			}
		} else if c.told.End == "" {
			c.told.End = "more"
		}
		encoder.Encode(upToOptions(c.told, c.output.Bytes()))
	}
	out.Flush()
}
