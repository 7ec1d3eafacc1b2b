// Random histories of many sizes for property tests.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import fc from "fast-check";

/** Text of about `words` words, each different from the next. */
export function prose(words: number, seed = 0): string {
  const vocabulary = [
    "river",
    "stone",
    "engine",
    "window",
    "paper",
    "signal",
    "garden",
    "copper",
    "letter",
    "season",
    "harbor",
    "thread",
  ];
  return Array.from(
    { length: words },
    (_, index) => vocabulary[(index * 7 + seed * 5 + ((index * index) % 11)) % vocabulary.length],
  ).join(" ");
}

const size = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 60 }) },
  { weight: 2, arbitrary: fc.integer({ min: 60, max: 900 }) },
  { weight: 1, arbitrary: fc.integer({ min: 900, max: 6000 }) },
);

const toolStep = fc
  .record({
    calls: fc.integer({ min: 1, max: 3 }),
    words: size,
    failed: fc.boolean(),
    answered: fc.integer({ min: 0, max: 9 }),
    seed: fc.nat(1_000_000),
  })
  .map(({ calls, words, failed, answered, seed }): AgentMessage[] => {
    const made = Array.from({ length: calls }, (_, index) =>
      toolCall(
        index % 2 === 0 ? "read" : "exec",
        { path: `src/part-${seed % 40}/file-${index}.ts` },
        `call_${seed}_${index}`,
      ),
    );
    // One in ten leaves its last call unanswered, as a killed process does.
    const results = (answered === 0 ? made.slice(0, -1) : made).map((call, index) =>
      toolResult(
        call,
        failed && index === 0
          ? `Error: ENOENT /srv/data/${seed}.json ${prose(words)}`
          : prose(words, seed),
        {
          isError: failed && index === 0,
        },
      ),
    );
    return [assistant(made), ...results];
  });

const extra = fc.oneof(
  fc.constant<AgentMessage[]>([]),
  fc.constant<AgentMessage[]>([]),
  fc.constant<AgentMessage[]>([
    { role: "custom", customType: "note", content: "A note of a plugin." },
  ]),
  fc.constant<AgentMessage[]>([
    { role: "bashExecution", command: "ls", output: "a.ts b.ts", exitCode: 0 },
  ]),
  fc.constant<AgentMessage[]>([assistant("cut off", { stopReason: "aborted" })]),
  fc
    .nat(99)
    .map((id): AgentMessage[] => [
      toolResult({ id: `nobody_${id}`, name: "read" }, "a result without its call"),
    ]),
);

const turn = fc
  .record({
    words: size,
    steps: fc.array(toolStep, { maxLength: 3 }),
    more: extra,
    answer: size,
    open: fc.integer({ min: 0, max: 9 }),
    seed: fc.nat(1_000_000),
  })
  .map(({ words, steps, more, answer, open, seed }): AgentMessage[] => [
    user(`Request ${seed}: ${prose(words, seed)}`),
    ...steps.flat(),
    ...more,
    ...(open === 0 ? [] : [assistant(`Answer ${seed}: ${prose(answer, seed)}`)]),
  ]);

export const anyTurn = turn;
export const anyHistory = fc
  .array(turn, { minLength: 1, maxLength: 14 })
  .map((turns) => turns.flat());
export const anyWindow = fc.constantFrom(8_000, 16_000, 32_000, 64_000, 128_000, 200_000);
