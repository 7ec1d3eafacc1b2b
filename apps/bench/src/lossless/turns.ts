// Makes up the turns of an agent's session without end, the same ones from the same seed.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { random } from "../shared/texts.ts";

/** What a session is made of. */
export interface SessionShape {
  /** The same seed, the same session. */
  seed: number;
  /** About how large a message is on average, as JSON. */
  bytesPerMessage: number;
}

/** A turn as a host hands it over, ids included. */
export interface BenchTurn {
  /** A name that only this turn's request and its first result hold. */
  ticket: string;
  messages: AgentMessage[];
}

/** The word that is searched for as a common one: it stands in most messages. */
export const COMMON_WORD = "config";

const COMMON =
  `the of and in to is for with on that this from file error build test run value result check update ${COMMON_WORD} server request function return path line data`.split(
    " ",
  );
const SYLLABLES =
  "ba be bi bo bu da de di do du fa fe fi fo ga ge gi go ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi vo za ze zo".split(
    " ",
  );
const VOCABULARY = 6_000;
const STEP_MS = 8_000;
/** A turn has five messages on average, 1.6 of them results; the others take this many bytes. */
const RESULTS_SHARE = 1.6 / 5;
const BYTES_BESIDE_RESULTS = 480;
const SHORTEST_RESULT = 150;

/** Requests, calls, results of tools and answers; every value is drawn from the seed. */
export function* turnsOf({ seed, bytesPerMessage }: SessionShape): Generator<BenchTurn> {
  const next = random(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  const vocabulary = Array.from({ length: VOCABULARY }, () =>
    Array.from({ length: 2 + below(3) }, () => SYLLABLES[below(SYLLABLES.length)]).join(""),
  );
  const word = () =>
    next() < 0.35
      ? COMMON[below(COMMON.length)]!
      : vocabulary[Math.floor(next() ** 2.2 * VOCABULARY)]!;
  const between = (least: number, most: number) => Math.floor(least * (most / least) ** next());
  const prose = (characters: number) => {
    let text = word();
    for (let count = 1; text.length < characters; count++)
      text += `${count % 13 === 0 ? ". " : " "}${word()}`;
    return text;
  };
  const lines: readonly ((at: number) => string)[] = [
    (at) => `src/${word()}/${word()}.ts:${at}: const ${word()} = await ${word()}(${below(9999)});`,
    (at) => `12:${at % 60} INFO ${word()} ${word()} id=${below(2 ** 30).toString(16)}`,
    () => `{"key":"${word()}","value":${below(1e6)},"text":"${word()} ${word()} ${word()}"}`,
  ];
  const output = (characters: number) => {
    const line = lines[below(lines.length)]!;
    let text = "";
    for (let at = 1; text.length < characters; at++) text += `${line(at)}\n`;
    return text;
  };
  const longest = longestResult(bytesPerMessage);
  let [time, messages, calls] = [Date.UTC(2026, 0, 1), 0, 0];
  const stored = <Message extends object>(message: Message) => {
    time += STEP_MS + below(3_000);
    return { ...message, timestamp: time, __openclaw: { id: nameOf(messages++) } };
  };
  const call = () => ({
    type: "toolCall" as const,
    id: `call_${(calls++).toString(36)}_${below(2 ** 30).toString(36)}`,
    name: ["read", "exec", "search"][below(3)]!,
    arguments: { path: `src/${word()}/${word()}.ts`, query: prose(between(10, 80)) },
  });
  const usage = { input: 1_000, output: 200, cacheRead: 0, cacheWrite: 0, totalTokens: 1_200 };
  const said = (characters: number, asked: readonly ReturnType<typeof call>[]) =>
    stored({
      role: "assistant",
      content: [{ type: "text", text: prose(characters) }, ...asked],
      ...{ api: "bench", provider: "bench", model: "bench-1", usage },
      stopReason: asked.length > 0 ? "toolUse" : "stop",
    });
  const result = ({ id, name }: ReturnType<typeof call>, more = "") =>
    stored({
      role: "toolResult",
      ...{ toolCallId: id, toolName: name, isError: false },
      content: [{ type: "text", text: more + output(between(SHORTEST_RESULT, longest)) }],
    });
  for (let turn = 0; ; turn++) {
    const ticket = `TICKET-${100_000 + turn}`;
    const made: object[] = [
      stored({ role: "user", content: `${prose(between(30, 400))} ${ticket}` }),
    ];
    const rounds = [[1], [2], [1, 1]][below(3)]!;
    for (const [round, parallel] of rounds.entries()) {
      const asked = Array.from({ length: parallel }, call);
      made.push(said(between(20, 200), asked));
      for (const [at, each] of asked.entries())
        made.push(result(each, round + at === 0 ? `${ticket}\n` : ""));
    }
    made.push(said(between(100, 900), []));
    yield { ticket, messages: made as AgentMessage[] };
  }
}

/** The id of the session's message of this number, from 0. */
export const nameOf = (at: number): string => at.toString(16).padStart(8, "0");

/** Pure. Of lengths drawn evenly by their logarithms, so that the average is as asked. */
function longestResult(bytesPerMessage: number): number {
  const average = Math.max(
    SHORTEST_RESULT * 1.5,
    (bytesPerMessage - BYTES_BESIDE_RESULTS) / RESULTS_SHARE,
  );
  let [low, high] = [SHORTEST_RESULT * 1.01, 1e6];
  while (high - low > 1) {
    const middle = (low + high) / 2;
    const mean = (middle - SHORTEST_RESULT) / Math.log(middle / SHORTEST_RESULT);
    if (mean < average) low = middle;
    else high = middle;
  }
  return low;
}
