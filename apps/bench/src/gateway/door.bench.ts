// What the door adds to a request beside a bare relay, below high water and with a cut view.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type BenchCase,
  type CaseResult,
  defineBench,
  type PreparedCase,
} from "../runner/bench.ts";
import { quantile } from "../runner/measure.ts";
import { startRelay } from "./bare-relay.ts";
import { newHome, startGateway } from "./gateway-process.ts";

const LENGTHS = [100, 1_000];
/** On an idle machine a relay takes 2 ms, and a request may take 5 ms more. */
const MOST_OF_RELAY = 3.5;
/** Of the kernel's clock. */
const TICK_MS = 10;
const WARM_UP_REQUESTS = 60;
const bareName = (messages: number) => `model server alone, ${messages} messages`;
const relayName = (messages: number) => `by a bare relay, ${messages} messages`;
const doorName = (messages: number) => `by the door, ${messages} messages`;
const cutName = (messages: number) => `by the door, ${messages} messages, half of it set aside`;
const RESULT = "a line of a file that was read; ".repeat(20);

interface Message {
  role: string;
  content: string | null;
  tool_calls?: object[];
  tool_call_id?: string;
}

/** Answers at once, with a call that no answer had before. */
async function startModel() {
  let count = 0;
  const server = createServer(async (heard, response) => {
    for await (const _ of heard);
    const id = `call_${++count}`;
    const call = { index: 0, id, type: "function", function: { name: "read", arguments: "{}" } };
    const chunk = (choice: object) =>
      `data: ${JSON.stringify({ id: `r${count}`, object: "chat.completion.chunk", choices: [choice] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ index: 0, delta: { role: "assistant", tool_calls: [call] } }));
    response.write(chunk({ index: 0, delta: {}, finish_reason: "tool_calls" }));
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A client that sends all it has, and goes on from each reply. */
function createClient(url: string, messages: number) {
  const agent = new Agent({ keepAlive: true });
  const own: Message[] = [{ role: "user", content: "Read all files." }];
  let last = 0;
  const goOn = (id: string) => {
    const call = { id, type: "function", function: { name: "read", arguments: "{}" } };
    own.push({ role: "assistant", content: null, tool_calls: [call] });
    own.push({ role: "tool", tool_call_id: id, content: RESULT });
  };
  while (own.length < messages) goOn(`before_${messages}_${++last}`);
  const tools = ["read", "write"].map((name) => ({ type: "function", function: { name } }));
  return {
    async ask(): Promise<number> {
      const body = JSON.stringify({ model: "instant", stream: true, tools, messages: own });
      const sent = request(`${url}/v1/chat/completions`, {
        ...{ agent, method: "POST" },
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      }).end(body);
      const [answer] = (await once(sent, "response")) as [NodeJS.ReadableStream];
      let text = "";
      for await (const piece of answer) text += String(piece);
      const id = /call_\d+/.exec(text)?.[0];
      if (id === undefined) throw new Error(`the request was not answered: ${text.slice(0, 300)}`);
      goOn(id);
      return text.length;
    },
    close: () => agent.destroy(),
  };
}

async function prepareBare(messages: number): Promise<PreparedCase> {
  const model = await startModel();
  const client = createClient(model.url, messages);
  return {
    run: client.ask,
    dispose() {
      client.close();
      model.close();
    },
  };
}

async function prepareRelay(messages: number): Promise<PreparedCase> {
  const model = await startModel();
  const relay = await startRelay(model.url);
  const client = createClient(relay.url, messages);
  const before = await warmUp(client, relay.process);
  let asked = 0;
  return {
    run() {
      asked++;
      return client.ask();
    },
    facts: () => ({ cpuMs: (cpuMsOf(relay.process) - before) / asked }),
    async dispose() {
      client.close();
      await relay.stop();
      model.close();
    },
  };
}

/** What the process had used by then, ms. */
async function warmUp({ ask }: ReturnType<typeof createClient>, child: ChildProcess) {
  for (let count = 0; count < WARM_UP_REQUESTS; count++) await ask();
  return cpuMsOf(child);
}

/** Used by all its threads; NaN where the system does not tell. */
function cpuMsOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

async function prepareDoor(messages: number, contextWindow: number): Promise<PreparedCase> {
  const model = await startModel();
  const home = await newHome({
    models: {
      providers: {
        local: {
          ...{ baseUrl: `${model.url}/v1`, api: "openai-completions" },
          models: [{ id: "instant", contextWindow }],
        },
      },
    },
    door: { upstreams: { "openai-completions": { provider: "local" } } },
  });
  const gateway = await startGateway({ home });
  const client = createClient(gateway.url, messages);
  const before = await warmUp(client, gateway.process);
  let asked = 0;
  return {
    run() {
      asked++;
      return client.ask();
    },
    facts: () => ({ cpuMs: (cpuMsOf(gateway.process) - before) / asked }),
    async dispose() {
      client.close();
      await gateway.stop();
      model.close();
    },
  };
}

/** Of so many messages, about. */
const tokensOf = (messages: number) => messages * ((RESULT.length + 200) / 8);

export default defineBench({
  name: "door",
  description:
    "a client's whole history passed on, against its model server alone; goals: 5 ms added, 20 to 99 of 100",
  rounds: 200,
  minSampleMs: 0,
  cases: LENGTHS.flatMap((messages): BenchCase[] => [
    { name: bareName(messages), prepare: () => prepareBare(messages) },
    {
      name: relayName(messages),
      compareTo: bareName(messages),
      prepare: () => prepareRelay(messages),
    },
    {
      name: doorName(messages),
      compareTo: relayName(messages),
      prepare: () => prepareDoor(messages, 10_000_000),
    },
    {
      name: cutName(messages),
      compareTo: relayName(messages),
      prepare: () => prepareDoor(messages, Math.round(tokensOf(messages) / 2)),
    },
  ]),
  tell: (results) =>
    LENGTHS.flatMap((messages) => {
      const { samplesMs: bare = [] } = results.get(bareName(messages)) ?? {};
      const { samplesMs: door = [] } = results.get(doorName(messages)) ?? {};
      if (bare.length === 0 || door.length === 0) return [];
      const added = door.map((ms, round) => ms - bare[round]!);
      const [half, most] = [0.5, 0.99].map((part) => quantile(added, part).toFixed(1));
      return `Added to the model server alone at ${messages} messages, ms: ${half} (99 of 100: ${most}); goals at 1,000: 5 (20).`;
    }),
  check(results: ReadonlyMap<string, CaseResult>) {
    const added = (messages: number) =>
      (results.get(doorName(messages))?.medianMs ?? Number.NaN) -
      (results.get(bareName(messages))?.medianMs ?? 0);
    const growth = added(1_000) / added(100);
    const ratio = results.get(doorName(1_000))?.ratio ?? Number.NaN;
    return [
      ...(growth <= 12
        ? []
        : [`A request of 1,000 messages adds ×${growth.toFixed(1)} of what one of 100 adds.`]),
      ...(ratio <= MOST_OF_RELAY
        ? []
        : [`A request of 1,000 messages takes ×${ratio.toFixed(1)} of what a bare relay takes.`]),
    ];
  },
});
