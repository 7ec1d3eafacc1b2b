// What reading a streamed reply costs beside what every reader of its bytes must do.
import { buildRequest, type StreamModelOptions, streamModel } from "@clew/providers";
import { createEmulator } from "@clew/providers/testing";
import { createParser } from "eventsource-parser";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";

const WIRES = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["deepseek", "openai-completions", "deepseek-reasoner"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["mistral", "mistral-conversations", "magistral-medium-latest"],
] as const;
type Wire = (typeof WIRES)[number];

const SENTENCE = "The tide was high and the harbour full of boats. ";
const REPLY = { thinking: SENTENCE.repeat(40), text: SENTENCE.repeat(400), chunkChars: 5 };

const callOf = ([provider, api, id]: Wire): StreamModelOptions["call"] => ({
  model: { provider, api, id, contextWindow: 200_000, maxOutputTokens: 8000 },
  systemPrompt: "Be brief.",
  messages: [{ role: "user", content: "Hi" }],
  tools: [],
  reasoning: { effort: "high" },
  signal: new AbortController().signal,
});

/** The bytes of one reply, as they came. */
async function recorded(wire: Wire): Promise<Uint8Array[]> {
  const server = await createEmulator(wire[1], { answers: [REPLY] });
  const { url, headers, body, method } = buildRequest(callOf(wire), { baseUrl: server.baseUrl });
  const answer = await fetch(url, { method, headers, body });
  const whole = new Uint8Array(await answer.arrayBuffer());
  await server.close();
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < whole.length; at += 16_384) pieces.push(whole.subarray(at, at + 16_384));
  return pieces;
}

/** Reads the events of the bytes, and says how many there were. */
function parsed(pieces: readonly Uint8Array[], read: (data: string) => void): number {
  const utf8 = new TextDecoder();
  let events = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      events++;
      if (data !== "[DONE]") read(data);
    },
  });
  for (const piece of pieces) parser.feed(utf8.decode(piece, { stream: true }));
  return events;
}

const streamOf = (pieces: readonly Uint8Array[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );

async function streamed(wire: Wire, pieces: readonly Uint8Array[]): Promise<number> {
  let events = 0;
  const fetch = async () => streamOf(pieces);
  for await (const event of streamModel({
    call: callOf(wire),
    endpoint: { baseUrl: "http://x" },
    fetch,
  })) {
    events++;
    if (event.type === "error") throw new Error(event.error.message);
  }
  return events;
}

const nameOf = ([, api]: Wire, how: string) => `${api}, ${how}`;
const EVENTS = "events alone";
const JSON_TOO = "events and their JSON";
const DRIVER = "the driver";

function casesOf(wire: Wire): BenchCase[] {
  const named = (how: string) => nameOf(wire, how);
  const bytes = recorded(wire);
  return [
    {
      name: named(EVENTS),
      async prepare() {
        const pieces = await bytes;
        return { run: () => parsed(pieces, () => {}) };
      },
    },
    {
      name: named(JSON_TOO),
      compareTo: named(EVENTS),
      async prepare() {
        const pieces = await bytes;
        return { run: () => parsed(pieces, (data) => void JSON.parse(data)) };
      },
    },
    {
      name: named(DRIVER),
      compareTo: named(JSON_TOO),
      async prepare() {
        const pieces = await bytes;
        const events = await streamed(wire, pieces);
        return { run: () => streamed(wire, pieces), facts: () => ({ events }) };
      },
    },
  ];
}

const MOST = 2;

export default defineBench({
  name: "streaming",
  description:
    "a reply of 5,000 events, cut into events, read as JSON too, and read by its driver; goal: the driver ≤ ×2 of events and their JSON",
  cases: WIRES.flatMap(casesOf),
  check: (results: ReadonlyMap<string, CaseResult>) =>
    WIRES.flatMap((wire) => {
      const ratio = results.get(nameOf(wire, DRIVER))?.ratio;
      return ratio !== undefined && ratio > MOST
        ? [
            `${wire[1]} takes ×${ratio.toFixed(1)} of what every reader must do; ×${MOST} is the goal.`,
          ]
        : [];
    }),
});
