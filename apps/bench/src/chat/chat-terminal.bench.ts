// How long a chat in a terminal takes to its prompt, and a key to its echo.
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { newHome } from "../gateway/gateway-process.ts";
import { type BenchCase, defineBench } from "../runner/bench.ts";
import { median } from "../runner/measure.ts";
import { type InTerminal, inTerminal } from "./in-terminal.ts";

const HISTORY_LINES = 10_000;
const TOKEN = "word ";
const KEYS = 100;
/** Between two keys, as a fast typist has it. */
const KEY_MS = 50;
const LEAVE = "\u0004";
const ESCAPE = "\u001b";
const CLEAR = "\u0015";

/** What is timed goes on until the chat has left; the fact is what somebody waits for. */
const upTo = (name: string, shown: string): BenchCase => ({
  name,
  compareTo: "help",
  async prepare() {
    const home = await newHome();
    const times: number[] = [];
    return {
      async run() {
        const began = performance.now();
        const chat = inTerminal(home, ["chat"]);
        times.push((await chat.shows(shown)) - began);
        chat.type(LEAVE);
        return chat.ended();
      },
      facts: () => ({ shownAfterMs: Math.round(median(times.slice(1))) }),
      dispose: () => rm(home, { recursive: true, force: true }),
    };
  },
});

const help: BenchCase = {
  name: "help",
  async prepare() {
    const home = await newHome();
    return {
      run: () => inTerminal(home, ["--help"]).ended(),
      dispose: () => rm(home, { recursive: true, force: true }),
    };
  },
};

/** A reply of as many lines, and one of 200 tokens a second that nobody lets come to its end. */
const answers = (_request: unknown, before: number) =>
  before === 0
    ? { text: Array.from({ length: HISTORY_LINES }, (_, line) => `- line ${line}`).join("\n") }
    : { text: TOKEN.repeat(20_000), chunkChars: TOKEN.length, pauseMs: 5 };

const echo: BenchCase = {
  name: "keys",
  async prepare() {
    const model = await createOpenAIEmulator({ check: false, answers });
    const home = await newHome({
      agents: { defaults: { model: "emulated/emulated" } },
      models: {
        providers: {
          emulated: {
            baseUrl: model.baseUrl,
            models: [{ id: "emulated", contextWindow: 1_000_000 }],
          },
        },
      },
    });
    const chat = inTerminal(home, ["chat"]);
    await chat.shows("Ctrl-D quits");
    chat.type("LINES\r");
    await chat.shows(`line ${HISTORY_LINES - 1}`);
    const times: number[] = [];
    return {
      async run() {
        chat.type("STREAM\r");
        await chat.shows(TOKEN.repeat(3));
        times.push(...(await keyTimes(chat)));
        chat.type(CLEAR);
        await sleep(KEY_MS);
        chat.type(ESCAPE);
        await chat.shows("(stopped");
      },
      facts: () => percentiles(times),
      async dispose() {
        chat.type(LEAVE);
        await chat.ended();
        await model.close();
        await rm(home, { recursive: true, force: true });
      },
    };
  },
};

async function keyTimes(chat: InTerminal): Promise<number[]> {
  const times: number[] = [];
  // Nothing else on the screen begins like it.
  const BEGUN = "zq";
  let draft = BEGUN;
  chat.type(BEGUN);
  for (let key = 0; key < KEYS; key++) {
    await sleep(KEY_MS);
    if (draft.length === 40) {
      chat.type(CLEAR + BEGUN);
      await sleep(KEY_MS);
      draft = BEGUN;
    }
    draft += String.fromCharCode(97 + (key % 26));
    const began = performance.now();
    chat.type(draft.at(-1)!);
    times.push((await chat.shows(draft)) - began);
  }
  return times;
}

function percentiles(times: readonly number[]): Record<string, number> {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(10 * sorted[Math.floor(share * sorted.length)]!) / 10;
  return { keys: times.length, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99) };
}

export default defineBench({
  name: "chat-terminal",
  description:
    "a chat in a terminal: start to prompt (goal: 300 ms), and key to echo while 200 tokens/s stream below 10,000 lines (goal: p99 of 16 ms)",
  cases: [help, upTo("prompt", "> "), upTo("session open", "Ctrl-D quits"), echo],
  rounds: 10,
});
