// What hostile or broken model servers answer to a request for a reply.
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

export interface HostileServer {
  name: string;
  answer(response: ServerResponse, origin: string): void | Promise<void>;
  /** How the turn may end; "completed": what came is a reply all the same. */
  held: readonly ("failed" | "completed")[];
}

const EVENTS = { "content-type": "text/event-stream" };
const FAILED = ["failed"] as const;
const EITHER = ["failed", "completed"] as const;

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (given: object, finish: string | null = null) =>
  data({ choices: [{ index: 0, delta: given, finish_reason: finish }] });
const DONE = "data: [DONE]\n\n";
const STOP = delta({}, "stop") + DONE;

const says = (name: string, held: HostileServer["held"], text: string | Buffer): HostileServer => ({
  ...{ name, held },
  answer: (response) => void response.writeHead(200, EVENTS).end(text),
});

const status = (
  name: string,
  code: number,
  body: string,
  headers: Record<string, string> = {},
): HostileServer => ({
  ...{ name, held: FAILED },
  answer: (response) =>
    void response.writeHead(code, { "content-type": "application/json", ...headers }).end(body),
});

/** Until the client has had enough. */
const endless = (name: string, piece: string | Buffer, begin = ""): HostileServer => ({
  ...{ name, held: FAILED },
  answer(response) {
    response.writeHead(200, EVENTS);
    response.write(begin);
    const more = () => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  },
});

const LARGE = Buffer.alloc(40 * 2 ** 20, 0x20);

export const HOSTILE_SERVERS: readonly HostileServer[] = [
  // Silence and endlessness.
  { name: "accepts and says nothing", held: FAILED, answer: () => {} },
  {
    ...{ name: "begins and says nothing more", held: FAILED },
    answer: (response) => void response.writeHead(200, EVENTS).write(delta({ content: "a" })),
  },
  {
    ...{ name: "drips signs of life", held: FAILED },
    answer(response) {
      response.writeHead(200, EVENTS);
      const drip = setInterval(() => response.write(": ping\n\n"), 20);
      response.on("close", () => clearInterval(drip));
    },
  },
  endless("writes without end", delta({ content: "a".repeat(10_000) })),
  endless("thinks without end", delta({ reasoning_content: "a".repeat(10_000) })),
  endless("writes one line without end", "a".repeat(65_536), "data: "),
  endless("writes blank lines without end", "\n".repeat(65_536)),
  endless(
    "writes arguments without end",
    delta(call({ arguments: "a".repeat(10_000) })),
    delta(call({ id: "c", name: "read_file" })),
  ),
  // Compression and size.
  {
    ...{ name: "sends 40 MB packed into 40 kB", held: FAILED },
    answer: (response) =>
      void response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipSync(LARGE)),
  },
  {
    ...{ name: "sends JSON of 40 MB", held: FAILED },
    answer: (response) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(LARGE),
  },
  {
    ...{ name: "says gzip and sends none", held: FAILED },
    answer: (response) =>
      void response.writeHead(200, { ...EVENTS, "content-encoding": "gzip" }).end("plain"),
  },
  // Wrong forms.
  says("sends a page", FAILED, "<!doctype html><h1>Sign in</h1>"),
  says("sends nothing", FAILED, ""),
  says("sends only an end", EITHER, DONE),
  says("sends no JSON", FAILED, "data: {nope\n\n"),
  says("sends half an event", FAILED, 'data: {"choices":[{"del'),
  says(
    "sends bytes that are no text",
    EITHER,
    Buffer.concat([
      Buffer.from(delta({ content: "a" })),
      Buffer.from([0xff, 0xfe, 10, 10]),
      Buffer.from(STOP),
    ]),
  ),
  says("sends a number for choices", FAILED, data({ choices: 5 }) + DONE),
  says("sends a list for all", FAILED, data([1, 2]) + DONE),
  says("sends null", FAILED, data(null) + DONE),
  says("sends a number for the text", EITHER, delta({ content: 5 }) + STOP),
  says("sends a number for tool calls", EITHER, delta({ tool_calls: 5 }) + STOP),
  says("sends an object for tool calls", EITHER, delta({ tool_calls: {} }) + STOP),
  says("sends null as a tool call", EITHER, delta({ tool_calls: [null] }) + STOP),
  says(
    "sends a call at index 1e9",
    EITHER,
    delta({ tool_calls: [{ index: 1e9, id: "a", function: { name: "x", arguments: "{}" } }] }) +
      delta({}, "tool_calls") +
      DONE,
  ),
  says(
    "sends a call without a name",
    EITHER,
    delta({ tool_calls: [{ index: 0, id: "a", function: { arguments: "{}" } }] }) +
      delta({}, "tool_calls") +
      DONE,
  ),
  says(
    "sends arguments that are no JSON",
    EITHER,
    delta({ tool_calls: [{ index: 0, id: "a", function: { name: "x", arguments: "{" } }] }) +
      delta({}, "tool_calls") +
      DONE,
  ),
  says(
    "sends a usage of words",
    EITHER,
    delta({ content: "a" }) +
      data({ choices: [], usage: { prompt_tokens: "many", completion_tokens: -1 } }) +
      STOP,
  ),
  says(
    "sends a usage beyond all numbers",
    EITHER,
    delta({ content: "a" }) +
      `data: {"choices":[],"usage":{"prompt_tokens":1e400,"completion_tokens":1e308}}\n\n${STOP}`,
  ),
  says(
    "sends a made-up ancestor",
    EITHER,
    `data: {"__proto__":{"polluted":true},"choices":[{"delta":{"content":"a","__proto__":{"polluted":true}}}]}\n\n${STOP}`,
  ),
  says(
    "sends a reason nobody knows",
    EITHER,
    delta({ content: "a" }) + delta({}, "because") + DONE,
  ),
  // Broken connections and refusals.
  {
    ...{ name: "resets the connection at once", held: FAILED },
    answer: (response) => void response.socket?.resetAndDestroy(),
  },
  {
    ...{ name: "resets in the middle", held: FAILED },
    answer(response) {
      response.writeHead(200, EVENTS).write(delta({ content: "a" }));
      setTimeout(() => response.socket?.resetAndDestroy(), 20);
    },
  },
  {
    ...{ name: "ends before it said so", held: FAILED },
    answer: (response) =>
      void response
        .writeHead(200, { ...EVENTS, "content-length": "5000" })
        .end(delta({ content: "a" }))
        .socket?.end(),
  },
  status(
    "refuses the key and quotes it",
    401,
    JSON.stringify({
      error: { message: "Incorrect API key provided: THE-KEY-OF-THE-TEST-1234567890" },
    }),
  ),
  status("refuses with a page", 500, "<h1>Internal Server Error</h1>"),
  status("refuses with nothing", 503, ""),
  status("refuses in a language of its own", 418, '{"teapot":true}'),
  status("answers 204", 204, ""),
  {
    ...{ name: "sends to another address, with all that was said", held: FAILED },
    answer: (response, origin) =>
      void response.writeHead(307, { location: `${origin}/elsewhere/v1/chat/completions` }).end(),
  },
  {
    ...{ name: "sends in a circle", held: FAILED },
    answer: (response) => void response.writeHead(308, { location: "/v1/chat/completions" }).end(),
  },
  {
    ...{ name: "reports an error as an event", held: FAILED },
    answer: (response) =>
      void response
        .writeHead(200, EVENTS)
        .end(data({ error: { message: "\u001b[2J\u202egone", code: 5 } })),
  },
];

function call({ id, name, ...rest }: { id?: string; name?: string; arguments?: string }) {
  return {
    tool_calls: [{ index: 0, ...(id && { id }), function: { ...(name && { name }), ...rest } }],
  };
}
