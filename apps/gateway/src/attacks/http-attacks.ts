// What hostile programs and pages of this machine send to a gateway.
import { type RequestParts, request } from "./raw-http.ts";

export interface HttpAttack {
  name: string;
  bytes(port: number): string | Buffer;
  /** Statuses that hold; "closed": the connection is closed without an answer. */
  held: readonly (number | "closed")[];
}

const attack = (
  name: string,
  line: string,
  held: HttpAttack["held"],
  parts: RequestParts | ((port: number) => RequestParts) = {},
): HttpAttack => ({
  name,
  held,
  bytes: (port) => request(port, line, typeof parts === "function" ? parts(port) : parts),
});

const raw = (name: string, held: HttpAttack["held"], bytes: HttpAttack["bytes"]): HttpAttack => ({
  name,
  held,
  bytes,
});

const MESSAGES = "POST /api/sessions/main/messages";
const JSON_TYPE = { "Content-Type": "application/json" };
const SAID = JSON.stringify({ text: "hi" });

const FOREIGN_HOSTS: ((port: number) => string)[] = [
  () => "evil.example",
  (port) => `evil.example:${port}`,
  () => "127.0.0.1",
  () => "localhost",
  () => "127.0.0.1:1",
  (port) => `127.0.0.1:0${port}`,
  (port) => `localhost.evil.example:${port}`,
  (port) => `127.0.0.1.nip.example:${port}`,
  (port) => `localhost:${port}@evil.example`,
  (port) => `evil.example@127.0.0.1:${port}`,
  (port) => `0.0.0.0:${port}`,
  (port) => `[::]:${port}`,
  (port) => `127.1:${port}`,
  (port) => `2130706433:${port}`,
  (port) => `0x7f000001:${port}`,
  (port) => `0177.0.0.1:${port}`,
  (port) => `127.0.0.2:${port}`,
  (port) => `localhost.:${port}`,
  (port) => `127.0.0.1:${port}, evil.example`,
  (port) => `127.0.0.1:${port} evil.example`,
  (port) => `http://127.0.0.1:${port}`,
  (port) => `127.0.0.1:${port}/`,
  (port) => `127.0.0.1:${port}#`,
  () => "[::1]",
  () => "",
];

const HOSTS: HttpAttack[] = [
  ...FOREIGN_HOSTS.map((host, index) => ({
    ...attack(`a foreign host (${index}: ${host(18_790)})`, "GET /api/sessions", [400, 403]),
    bytes: (port: number) => request(port, "GET /api/sessions", { host: host(port) }),
  })),
  attack("no host", "GET /api/sessions", [400], { host: null }),
  raw("no host, of an old client", [400, 403], () => "GET /api/sessions HTTP/1.0\r\n\r\n"),
  raw(
    ...(["two hosts", [400, 403]] as const),
    (port) =>
      `GET /api/sessions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
  ),
  raw(
    ...(["a foreign address in the request line", [400, 403, 404]] as const),
    () =>
      "GET http://evil.example/api/sessions HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
  ),
];

const ORIGINS: ((port: number) => string)[] = [
  () => "http://evil.example",
  () => "https://evil.example",
  () => "null",
  () => "http://localhost",
  () => "http://127.0.0.1:1",
  (port) => `https://127.0.0.1:${port}`,
  (port) => `http://127.0.0.1:${port}.evil.example`,
  (port) => `http://evil.example/127.0.0.1:${port}`,
  (port) => `http://user@127.0.0.1:${port}`,
  () => "file://",
  () => "chrome-extension://abcdefghijklmnop",
  () => "HTTP://EVIL.EXAMPLE",
];
const TYPES = [
  "application/json",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
];

const CROSS_SITE: HttpAttack[] = ORIGINS.flatMap((origin, index) =>
  TYPES.map((type) => ({
    ...attack(`a page at another origin (${index}) sends ${type}`, MESSAGES, [403]),
    bytes: (port: number) =>
      request(port, MESSAGES, {
        ...{ headers: { Origin: origin(port), "Content-Type": type }, body: SAID },
      }),
  })),
);

const SITES: HttpAttack[] = ["cross-site", "same-site", "strange"].flatMap((site) => {
  const headers = { "Sec-Fetch-Site": site };
  const post = { headers: { ...headers, ...JSON_TYPE }, body: SAID };
  const opened = { ...headers, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
  const framed = { ...opened, "Sec-Fetch-Dest": "iframe" };
  return [
    attack(`a ${site} page reads the sessions`, "GET /api/sessions", [403], { headers }),
    attack(`a ${site} page loads a script`, "GET /app.js", [403], { headers }),
    attack(`a ${site} page sends a message`, MESSAGES, [403], post),
    attack(`a ${site} page frames the page`, "GET /", [403], { headers: framed }),
    attack(`a ${site} page opens the API`, "GET /api/sessions", [403], { headers: opened }),
    attack(`a ${site} page opens the numbers`, "GET /metrics", [403], { headers: opened }),
  ];
});

const FORMS: HttpAttack[] = [...TYPES.slice(1), "", "application/jsonp", "text/json"].map((type) =>
  attack(`a form without an origin sends ${type || "no type"}`, MESSAGES, [400], {
    ...{ headers: type === "" ? {} : { "Content-Type": type }, body: SAID },
  }),
);

const METHODS: HttpAttack[] = [
  ...["TRACE", "OPTIONS", "PUT", "DELETE", "PATCH", "PROPFIND", "SEARCH", "PURGE"].map((method) =>
    attack(`${method} on the sessions`, `${method} /api/sessions`, [400, 403, 404, 405]),
  ),
  attack("CONNECT to another machine", "CONNECT evil.example:443", ["closed", 400, 403, 404]),
  attack("a method nobody knows", "GETX /api/sessions", [400]),
  attack("a method in small letters", "get /api/sessions", [400]),
];

const head = (port: number, line: string, ...headers: string[]) =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers.map((text) => `${text}\r\n`).join("")}`;
const HIDDEN = "GET /api/plugins HTTP/1.1\r\nHost: evil.example\r\n\r\n";
const smuggled = (name: string, ...headers: string[]): HttpAttack =>
  raw(
    `a request hidden by ${name}`,
    [400, "closed"],
    (port) =>
      `${head(port, MESSAGES, "Content-Type: application/json", ...headers)}\r\n0\r\n\r\n${HIDDEN}`,
  );

const SMUGGLED: HttpAttack[] = [
  smuggled("a length beside chunks", "Content-Length: 5", "Transfer-Encoding: chunked"),
  smuggled("chunks beside a length", "Transfer-Encoding: chunked", "Content-Length: 5"),
  smuggled("two lengths", "Content-Length: 5", "Content-Length: 6"),
  smuggled("two lengths in one", "Content-Length: 5, 6"),
  smuggled("a length below zero", "Content-Length: -1"),
  smuggled("a length with a sign", "Content-Length: +5"),
  smuggled("a length in hex", "Content-Length: 0x5"),
  smuggled("a length of words", "Content-Length: five"),
  smuggled("chunks spelled otherwise", "Transfer-Encoding: xchunked"),
  smuggled("chunks that are not last", "Transfer-Encoding: chunked, identity"),
  smuggled("a blank before a colon", "Transfer-Encoding : chunked"),
  smuggled("a folded header", "Transfer-Encoding:\r\n chunked", "Content-Length: 5"),
  smuggled("a NUL", "X-Odd: a\0b"),
  smuggled("a header without a colon", "Transfer-Encoding chunked"),
  raw(
    "a size of a chunk that is none",
    [400, "closed"],
    (port) =>
      `${head(port, MESSAGES, "Transfer-Encoding: chunked", "Content-Type: application/json")}\r\nzz\r\n${HIDDEN}`,
  ),
  raw(
    "a size of a chunk beyond all numbers",
    [400, "closed"],
    (port) =>
      `${head(port, MESSAGES, "Transfer-Encoding: chunked", "Content-Type: application/json")}\r\nffffffffffffffffff\r\n`,
  ),
  raw("bytes that are no HTTP", [400, "closed"], () => Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1])),
  raw("HTTP of another version", [400, 505, "closed"], () => "GET / HTTP/9.9\r\n\r\n"),
  raw("HTTP/2 from the start", [400, 505, "closed"], () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
];

const KEYS = [
  ...["..%2f..%2fetc%2fpasswd", "%2e%2e%2f%2e%2e", "..%5c..%5cwindows", "%2fetc%2fpasswd"],
  ...["a%00b", "%00", "agent:..%2fx:y", "agent:main:..%2fx", "agent::", "agent:main:", "%3a%3a"],
  ...["agent:main:a%2f..%2f..%2fb", "__proto__", "constructor", "prototype", "toString"],
  ...["%ff%fe", "%c0%ae%c0%ae%2f", "%u002e", "%", "%zz", "a".repeat(5000), "%20", "%0a", "%1b[2J"],
  ...["%e2%80%ae", "CON", "nul.jsonl", "sessions.json", "..;%2f", "$(id)", "`id`", "%7e%2f"],
];
const SESSIONS: HttpAttack[] = KEYS.map((key, index) =>
  attack(`a session called ${key.slice(0, 30)} (${index})`, `GET /api/sessions/${key}`, [400, 404]),
);

const PATHS = [
  ...["/../package.json", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd"],
  ...[
    "/app.js/../../main.js",
    "/.git/config",
    "/%00",
    "/..%5c..%5c",
    "/clew.json",
    "/gateway.json",
  ],
  ...["/logs/gateway.log", "/agents/main/sessions", "/main.js", "/sdk-core.js", "/.env"],
  ...["/api/../gateway.json", "/api/%2e%2e/clew.json", "/web/../../package.json"],
];
const FILES: HttpAttack[] = PATHS.map((path) =>
  attack(`the file ${path}`, `GET ${path}`, [400, 403, 404]),
);

const BODIES: Record<string, string | Buffer> = {
  ...{ nothing: "", "a word": "hi", null: "null", "a list": "[]", "a number": "1" },
  ...{ "half of it": '{"text":', "a number for text": '{"text":1}', "no text": "{}" },
  ...{ "blanks only": '{"text":"  "}', "an empty text": '{"text":""}' },
  "a deep nest": `{"text":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  "a made-up ancestor": '{"__proto__":{"text":"hi"}}',
  "bytes that are no text": Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  "a picture that is none": '{"content":[{"type":"image","data":"!!","mimeType":"image/png"}]}',
  "a page as a picture": '{"content":[{"type":"image","data":"AAAA","mimeType":"text/html"}]}',
  "a file as a block": '{"content":[{"type":"file","path":"/etc/passwd"}]}',
  "a wish nobody knows": '{"text":"hi","onDisconnect":"explode"}',
  "tools that are no list": '{"text":"hi","allowTools":"*"}',
};
const CONTENTS: HttpAttack[] = [
  ...Object.entries(BODIES).map(([name, body]) =>
    attack(`a message of ${name}`, MESSAGES, [400], { headers: JSON_TYPE, body }),
  ),
  attack("tools without a token", MESSAGES, [403], {
    ...{ headers: JSON_TYPE, body: '{"text":"hi","allowTools":["*"]}' },
  }),
  attack("an approval by anybody", "POST /api/approvals/1/once", [403, 404]),
  attack("a method of a plugin by anybody", "POST /api/plugins/methods/x", [403, 404]),
  attack("the link by anybody", "GET /api/approvals/link", [403]),
  attack("an end by anybody", "POST /api/stop", [403]),
  attack("a link with another key", `GET /open/${"0".repeat(40)}`, [403]),
  attack("a proof that is made up", "GET /api/sessions", [403], {
    headers: { "X-Clew-Proof": `${"0".repeat(32)}:${"0".repeat(64)}` },
  }),
];

const SIZES: HttpAttack[] = [
  raw(
    "a body of 5 GB, as it says",
    [413],
    (port) =>
      `${head(port, MESSAGES, "Content-Type: application/json", "Content-Length: 5000000000")}\r\n{`,
  ),
  raw(
    "a body of 5 GB for the door",
    [413],
    (port) =>
      `${head(port, "POST /v1/chat/completions", "Content-Type: application/json", "Content-Length: 5000000000")}\r\n{`,
  ),
  raw("a body that is longer than it may be, in chunks", [413], (port) => {
    const piece = "a".repeat(0x10000);
    return `${head(port, MESSAGES, "Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close")}\r\n${`10000\r\n${piece}\r\n`.repeat(3)}0\r\n\r\n`;
  }),
  raw("a body for the door that is longer than it may be, in chunks", [413], (port) => {
    const piece = "a".repeat(0x10000);
    return `${head(port, "POST /v1/messages", "Transfer-Encoding: chunked", "Connection: close")}\r\n${`10000\r\n${piece}\r\n`.repeat(3)}0\r\n\r\n`;
  }),
  attack("an address of 20,000 characters", `GET /${"a".repeat(20_000)}`, [400, 404, 414, 431]),
  attack("a header of 100,000 characters", "GET /api/sessions", [431, "closed"], {
    headers: { "X-Long": "a".repeat(100_000) },
  }),
  attack("5,000 headers", "GET /api/sessions", [200, 400, 431, "closed"], {
    headers: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`X-${at}`, "a"])),
  }),
  attack("a thousand parameters", `GET /api/sessions/main?${"limit=1&".repeat(1000)}`, [404]),
  attack("a limit that is none", "GET /api/sessions/main/messages?limit=-1e309", [400]),
  attack("an event that is none", "GET /api/sessions/main/calls?after=%00", [404]),
];

export const HTTP_ATTACKS: readonly HttpAttack[] = [
  ...[HOSTS, CROSS_SITE, SITES, FORMS, METHODS, SMUGGLED, SESSIONS, FILES, CONTENTS, SIZES],
].flat();
