// What twenty sessions at once get through, beside a bare echo and a relay that keeps all.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CaseResult, defineBench, type PreparedCase } from "../runner/bench.ts";
import { quantile } from "../runner/measure.ts";
import { startEcho } from "./bare-echo.ts";
import { startDurableRelay } from "./durable-relay.ts";
import { newHome, processorMsOf, startGateway } from "./gateway-process.ts";

const SESSIONS = 20;
const TURNS_EACH = 10;
const WARM_UP_ROUNDS = 4;
/** Of a bare echo; what is asked of an idle machine is 20. */
const MOST_OF_ECHO = 150;
const ECHO = "bare echo";
const RELAY = "durable relay";
const LOAD = "turns";

/** Answers at once. */
async function startModel() {
  const server = createServer((heard, response) => {
    heard.resume().once("end", () => {
      const chunk = (choice: object, more: object = {}) =>
        `data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", choices: [choice], ...more })}\n\n`;
      const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk({ index: 0, delta: { role: "assistant", content: "It was heard." } }));
      response.write(chunk({ index: 0, delta: {}, finish_reason: "stop" }, { usage }));
      response.end("data: [DONE]\n\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Everybody asks again as soon as the answer is there; how long each took, ms. */
async function ask(agent: Agent, urlOf: (asker: number) => string, end: string) {
  const took: number[] = [];
  const one = async (asker: number, turn: number) => {
    const began = performance.now();
    const body = JSON.stringify({ text: `Message ${turn} of ${asker}.` });
    const sent = request(urlOf(asker), {
      ...{ agent, method: "POST" },
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    }).end(body);
    const [answer] = (await once(sent, "response")) as [NodeJS.ReadableStream];
    let heard = "";
    for await (const piece of answer) heard += piece;
    if (!heard.includes(end)) throw new Error(`no turn that completed: ${heard.slice(-300)}`);
    took.push(performance.now() - began);
  };
  const all = Array.from({ length: SESSIONS }, async (_, asker) => {
    for (let turn = 0; turn < TURNS_EACH; turn++) await one(asker, turn);
  });
  await Promise.all(all);
  return took;
}

const figures = (took: readonly number[]) => ({
  askMs: quantile(took, 0.5),
  askP99Ms: quantile(took, 0.99),
});

async function prepareLoad(): Promise<PreparedCase> {
  const model = await startModel();
  const home = await newHome({
    agents: { defaults: { model: { primary: "local/instant" } } },
    models: {
      providers: {
        local: {
          ...{ baseUrl: model.url, api: "openai-completions" },
          models: [{ id: "instant", contextWindow: 1_000_000, maxTokens: 1_000 }],
        },
      },
    },
  });
  const gateway = await startGateway({ home });
  const agent = new Agent({ keepAlive: true, maxSockets: SESSIONS });
  const urlOf = (asker: number) => `${gateway.url}/api/sessions/load-${asker}/messages`;
  const round = () => ask(agent, urlOf, '"outcome":"completed"');
  for (let warmUp = 0; warmUp < WARM_UP_ROUNDS; warmUp++) await round();
  const took: number[] = [];
  const before = await gateway.processorMs();
  let spent = 0;
  return {
    async run() {
      took.push(...(await round()));
      spent = (await gateway.processorMs()) - before;
    },
    facts: () => ({ ...figures(took), processorMsPerTurn: spent / took.length }),
    async dispose() {
      agent.destroy();
      await gateway.stop();
      model.close();
    },
  };
}

async function prepareRelay(): Promise<PreparedCase> {
  const model = await startModel();
  const folder = await mkdtemp(join(tmpdir(), "clew-bench-"));
  const relay = await startDurableRelay(model.url, folder);
  const agent = new Agent({ keepAlive: true, maxSockets: SESSIONS });
  const round = () => ask(agent, (asker) => `${relay.url}/${asker}`, '"outcome":"completed"');
  for (let warmUp = 0; warmUp < WARM_UP_ROUNDS; warmUp++) await round();
  const took: number[] = [];
  const pid = relay.process.pid!;
  const before = await processorMsOf(pid);
  let spent = 0;
  return {
    async run() {
      took.push(...(await round()));
      spent = (await processorMsOf(pid)) - before;
    },
    facts: () => ({ ...figures(took), processorMsPerTurn: spent / took.length }),
    async dispose() {
      agent.destroy();
      await relay.stop();
      model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function prepareEcho(): Promise<PreparedCase> {
  const echo = await startEcho();
  const agent = new Agent({ keepAlive: true, maxSockets: SESSIONS });
  const round = () => ask(agent, () => echo.url, "Message");
  const took: number[] = [];
  return {
    run: async () => took.push(...(await round())),
    facts: () => figures(took),
    async dispose() {
      agent.destroy();
      await echo.stop();
    },
  };
}

export default defineBench({
  name: "gateway-load",
  description:
    "twenty sessions at once against an instant model, beside a bare echo; goals: 1:20, p99 at most three medians",
  rounds: 9,
  cases: [
    { name: ECHO, prepare: prepareEcho },
    { name: RELAY, compareTo: ECHO, prepare: prepareRelay },
    { name: LOAD, compareTo: ECHO, prepare: prepareLoad },
  ],
  tell(results) {
    const [relay, load] = [RELAY, LOAD].map((name) => results.get(name)?.medianMs ?? Number.NaN);
    return [`A turn takes ×${(load! / relay!).toFixed(1)} of what the durable relay takes.`];
  },
  check(results: ReadonlyMap<string, CaseResult>) {
    const ratio = results.get(LOAD)?.ratio ?? Number.NaN;
    return ratio <= MOST_OF_ECHO
      ? []
      : [`A turn costs ×${ratio.toFixed(0)} of a bare echo; at most ×${MOST_OF_ECHO}.`];
  },
});
