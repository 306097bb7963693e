//! A thread for each connection, blocking reads and writes, the standard library alone. `peer-rust-threads --port N`.
//!
//! It finds the request line and each field line, asks for a name before each colon and for one Host, and knows one route. It checks no
//! characters, takes no content, and has neither limits nor timeouts: a control for what threads cost, not a server.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};

extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn _exit(code: i32) -> !;
}

extern "C" fn end(_: i32) {
    unsafe { _exit(0) }
}

const STACK_BYTES: usize = 64 * 1024;
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// RFC 9110 section 5.6.7.
fn date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let days = seconds / 86_400;
    let (mut year, mut left) = (1970, days);
    let leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while left >= 365 + leap(year) as u64 {
        left -= 365 + leap(year) as u64;
        year += 1;
    }
    let lengths = [31, 28 + leap(year) as u64, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    let of_day = seconds % 86_400;
    format!(
        "{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize], left + 1, MONTHS[month], year, of_day / 3600, of_day / 60 % 60, of_day % 60
    )
}

struct Answers {
    second: u64,
    bytes: Vec<u8>,
}

impl Answers {
    fn now(&mut self) -> &[u8] {
        let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if second != self.second {
            self.second = second;
            self.bytes = format!(
                "HTTP/1.1 200 OK\r\nServer: threads\r\nDate: {}\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!",
                date(second)
            )
            .into_bytes();
        }
        &self.bytes
    }
}

/// The length of a whole head; 0 when more is needed, None for what is refused.
fn head_bytes(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut hosts = 0;
    loop {
        let Some(length) = bytes[at..].iter().position(|&byte| byte == b'\n') else { return Some(0) };
        let line = bytes[at..at + length].strip_suffix(b"\r")?;
        if at == 0 {
            if line != b"GET /plaintext HTTP/1.1" {
                return None;
            }
        } else if line.is_empty() {
            return if hosts == 1 { Some(at + length + 1) } else { None };
        } else {
            let colon = line.iter().position(|&byte| byte == b':')?;
            if colon == 0 {
                return None;
            }
            hosts += line[..colon].eq_ignore_ascii_case(b"host") as usize;
        }
        at += length + 1;
    }
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut answers = Answers { second: 0, bytes: Vec::new() };
    let mut input = vec![0u8; HEAD_BYTES_MAX];
    let mut output = Vec::new();
    let mut held = 0;
    loop {
        let got = stream.read(&mut input[held..])?;
        if got == 0 {
            return Ok(());
        }
        held += got;
        let mut used = 0;
        while used < held {
            match head_bytes(&input[used..held]) {
                None => return stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                Some(0) => break,
                Some(length) => {
                    used += length;
                    output.extend_from_slice(answers.now());
                }
            }
        }
        input.copy_within(used..held, 0);
        held -= used;
        if !output.is_empty() {
            stream.write_all(&output)?;
            output.clear();
        }
    }
}

fn main() {
    unsafe { signal(15, end) };
    let words: Vec<String> = std::env::args().collect();
    let port: u16 = match words.as_slice() {
        [_, word, number] if word == "--port" => number.parse().expect("a port"),
        _ => panic!("usage: peer-rust-threads --port N"),
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("bind");
    println!("listening on 127.0.0.1:{port}");
    for stream in listener.incoming().flatten() {
        let _ = stream.set_nodelay(true);
        let _ = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || serve(stream));
    }
}
