// The JDK's own HttpServer, whose dispatcher thread runs the handler. java Main --port N

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

public final class Main {
    public static void main(String[] words) throws Exception {
        int port = Integer.parseInt(words[1]);
        byte[] body = "Hello, World!".getBytes(StandardCharsets.US_ASCII);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 4096);
        server.createContext("/plaintext", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            exchange.getResponseHeaders().set("Server", "jdk");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        // A signal would end it with 143.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        server.start();
        System.out.println("listening on 127.0.0.1:" + port);
        System.out.flush();
    }
}
