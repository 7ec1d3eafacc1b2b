// What the gateway adds to a turn over HTTP, at three lengths of history.
import { createOpenAIEmulator } from "@clew/providers/testing";
import {
  type BenchCase,
  type CaseResult,
  defineBench,
  type PreparedCase,
} from "../runner/bench.ts";
import { newHome, say, startGateway, writeSession } from "./gateway-process.ts";

const LENGTHS = [10, 200, 1_000];
const WARM_UP_TURNS = 60;
const turnName = (messages: number) => `turn, ${messages} messages`;
const bareName = (messages: number) => `model server alone, ${messages} messages`;

async function prepareTurn(messages: number): Promise<PreparedCase> {
  const model = await createOpenAIEmulator({ check: false });
  const home = await newHome({
    agents: { defaults: { model: { primary: "local/instant" } } },
    models: {
      providers: {
        local: {
          baseUrl: model.baseUrl,
          api: "openai-completions",
          models: [{ id: "instant", contextWindow: 1_000_000, maxTokens: 1_000 }],
        },
      },
    },
  });
  await writeSession(home, messages);
  const gateway = await startGateway({ home });
  // A gateway runs for weeks: what its first turns spend on compiling is not what people wait for.
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) await say(gateway.url, "warm up");
  return {
    run: () => say(gateway.url, "What is in line 7?"),
    async dispose() {
      await gateway.stop();
      await model.close();
    },
  };
}

/** The same request body without a gateway: what any client would spend. */
async function prepareBare(messages: number): Promise<PreparedCase> {
  const model = await createOpenAIEmulator({ check: false });
  const history = Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: the file src/module-${index % 97}.ts was read, and line ${index} of it looked at for a while.`,
  }));
  const body = {
    model: "instant",
    stream: true,
    messages: [...history, { role: "user", content: "What is in line 7?" }],
  };
  return {
    async run() {
      const response = await fetch(`${model.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return (await response.text()).length;
    },
    dispose: () => model.close(),
  };
}

export default defineBench({
  name: "gateway-turn",
  description:
    "a turn through HTTP, disk included, against the bare request; goal: at most 5 ms added",
  rounds: 25,
  cases: LENGTHS.flatMap((messages): BenchCase[] => [
    { name: bareName(messages), prepare: () => prepareBare(messages) },
    {
      name: turnName(messages),
      compareTo: bareName(messages),
      prepare: () => prepareTurn(messages),
    },
  ]),
  check(results: ReadonlyMap<string, CaseResult>) {
    const added = (messages: number) =>
      (results.get(turnName(messages))?.medianMs ?? Number.NaN) -
      (results.get(bareName(messages))?.medianMs ?? 0);
    const growth = added(1_000) / added(10);
    return growth <= 4
      ? []
      : [`A turn at 1,000 messages adds ×${growth.toFixed(1)} of what one at 10 adds.`];
  },
});
