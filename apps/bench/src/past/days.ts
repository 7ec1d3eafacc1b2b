// Makes up sessions of many days, each with tasks of its own.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { withMessageId } from "@clew/plugin-sdk/transcript";

/** A task of a day: what was done is told by its thing, or by its file. */
export interface Task {
  /** "2026-01-31". */
  day: string;
  thing: string;
  file: string;
}

/** A session and what was done in it. */
export interface DaysSession {
  messages: AgentMessage[];
  /** In the order of time. */
  tasks: Task[];
}

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 5, 8);
const CHARS_PER_TOKEN = 4;

const QUALITIES = [
  ..."amber brittle copper dusty early faint golden hollow idle jagged keen loose muted narrow".split(
    " ",
  ),
  ..."odd plain quiet rapid slender tidy urgent vivid waxen young zonal broken clever distant".split(
    " ",
  ),
];
const THINGS = [
  ..."invoice parser scheduler importer cache ledger router mailer exporter indexer gateway".split(
    " ",
  ),
  ..."formatter tokenizer uploader dashboard calendar payroll inventory checkout search login".split(
    " ",
  ),
];
const REQUESTS = [
  (thing: string, file: string) => `The ${thing} drops its last row. Please mend it in ${file}.`,
  (thing: string, file: string) => `Look at ${file}: the ${thing} is slow, make it faster.`,
  (thing: string, file: string) => `We need tests for the ${thing}, see ${file}.`,
  (thing: string) => `Why does the ${thing} fail for empty input? Find out and repair that.`,
  (thing: string, file: string) => `Rename the ${thing} as we said yesterday; it lives in ${file}.`,
];
const FOLLOW_UPS = [
  ...["Go on.", "Yes, do that.", "Run the tests again.", "That looks right, continue."],
  ...["Hm, it still fails here, have another look.", "Thanks. Anything left to do there?"],
];
const TOOLS = ["read", "edit", "bash", "grep"] as const;

/** Pure for one seed: mulberry32. */
function diceOf(seed: number): (end: number) => number {
  let state = seed >>> 0;
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}

/** Pure. `tokens`: of the whole session, about. */
export function makeDays({
  seed,
  days,
  tokens,
}: {
  seed: number;
  days: number;
  tokens: number;
}): DaysSession {
  const dice = diceOf(seed);
  const messages: AgentMessage[] = [];
  const tasks: Task[] = [];
  const names = shuffled(
    QUALITIES.flatMap((quality) => THINGS.map((thing) => `${quality} ${thing}`)),
    dice,
  );
  const add = (message: AgentMessage) =>
    void messages.push(withMessageId(message, `m${messages.length}`));
  for (let number = 0; number < days; number++) {
    const ofDay = 1 + dice(4);
    let time = START + number * DAY_MS;
    for (let at = 0; at < ofDay; at++) {
      const thing = names.pop()!;
      const file = `src/${thing.replace(" ", "/")}.ts`;
      const day = new Date(time).toISOString().slice(0, 10);
      tasks.push({ day, thing, file });
      let left = (tokens / days / ofDay) * CHARS_PER_TOKEN;
      let text = REQUESTS[dice(REQUESTS.length)]!(thing, file);
      while (left > 0) {
        add({ role: "user", content: text, timestamp: time });
        const steps = 1 + dice(12);
        for (let step = 0; step < steps && left > 0; step++) {
          time += 1_000 + dice(20_000);
          const name = TOOLS[dice(TOOLS.length)]!;
          const id = `call-${messages.length}`;
          const given = name === "bash" ? { command: "pnpm test" } : { path: file };
          const size = 200 + dice(9_000);
          left -= size;
          add({
            role: "assistant",
            content: [{ type: "toolCall", id, name, arguments: given }],
            timestamp: time,
          } as unknown as AgentMessage);
          add({
            ...{ role: "toolResult", toolCallId: id, toolName: name, isError: dice(9) === 0 },
            content: [{ type: "text", text: outputOf(size, dice) }],
            timestamp: time + 500,
          } as AgentMessage);
        }
        time += 1_000;
        add({
          role: "assistant",
          content: [{ type: "text", text: `Done so far: ${outputOf(120, dice)}` }],
          timestamp: time,
        } as AgentMessage);
        text = FOLLOW_UPS[dice(FOLLOW_UPS.length)]!;
      }
      time += 60_000;
    }
  }
  return { messages, tasks };
}

const WORDS =
  "const value return index result error line test file count name type call next given other stored read write empty".split(
    " ",
  );

function outputOf(chars: number, dice: (end: number) => number): string {
  let text = "";
  while (text.length < chars)
    text += `${WORDS[dice(WORDS.length)]}${dice(8) === 0 ? `${dice(999)}\n` : " "}`;
  return text;
}

function shuffled<Item>(items: Item[], dice: (end: number) => number): Item[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = dice(at + 1);
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}
