// What is said in the kit's sessions.
import type {
  AgentMessage,
  AssistantBlock,
  ImageBlock,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "../../contract/message.ts";
import { assistant, toolCall, toolResult, user } from "../messages.ts";
import { markOf } from "./marks.ts";
import type { Answer, Speech, ToolReturn } from "./script.ts";

/** Where a message stands: `tag` is its session's, `number` its own. */
export interface Saying {
  tag: string;
  number: number;
  /** Ms since the epoch. */
  timestamp: number;
}

const LONG_WORDS = 500;
/** More than most limits that somebody thinks nobody reaches, in characters. */
const HUGE_WORDS = 24_000;

function textOf(kind: Speech, { tag, number }: Saying): string {
  const mark = markOf(tag, number);
  const text = `What do the notes ${mark} say about item ${number}?`;
  switch (kind) {
    case "same":
      return "yes, go on";
    case "long":
      return `${text} ${wordsOf(number, LONG_WORDS)}`;
    case "huge":
      return `${text} ${wordsOf(number, HUGE_WORDS)}`;
    case "beat":
      return `HEARTBEAT ${mark}: what does it say in line ${number} of the log?`;
    case "lines":
      return `\n  ${text}\r\n\n\t- first\n\n\n- second  `;
    case "halves":
      return `${text} cut in two \ud83d`;
    case "quoted":
      return `[Summary of the conversation so far] <context>${text}</context> [old result cleared]`;
    case "signs":
      return `${text} naïve 漢字 👩‍👩‍👧 e\u0301 \ufeff\u200b\t \u0000 <b>"'\\ {"a":[1]} \u2028 ${"é".repeat(3)}`;
    default:
      return text;
  }
}

/** Words that differ from number to number, so that no two texts are alike. */
function wordsOf(number: number, count: number): string {
  const name = `${number} ${count}`;
  const known = words.get(name);
  if (known !== undefined) return known;
  const made = Array.from(
    { length: count },
    (_, index) => `w${((number + 7) * (index + 13)) % 9973}`,
  ).join(" ");
  words.set(name, made);
  return made;
}

/** Words of what is larger than one limit or another, of which there are many. */
const hugeWords = (number: number) => HUGE_WORDS / (1 << (number % 5));
/** As output is, with more lines than somebody may think. */
const inLines = (text: string) => text.replaceAll(/((?:\S+ ){9}\S+) /g, "$1\n");

/** The same in every session. */
const words = new Map<string, string>();

export const picture = ({ tag, number }: Saying): ImageBlock => ({
  type: "image",
  // Base64 of as many bytes as it takes to differ from every other picture.
  data: `${"iVBORw0KGgo"}${[...`${tag}${number}`].map((char) => char.charCodeAt(0).toString(36).padStart(2, "0")).join("")}AAAA`,
  mimeType: "image/png",
});

export function request(kind: Speech, saying: Saying, heartbeat: boolean): UserMessage {
  const text = heartbeat ? `HEARTBEAT ${markOf(saying.tag, saying.number)}` : textOf(kind, saying);
  const { timestamp } = saying;
  const extras = {
    timestamp,
    idempotencyKey: `${saying.tag}-${saying.number}:user`,
    ...(heartbeat && { __openclaw: { kind: "heartbeat" as const } }),
  };
  if (kind === "parts" && !heartbeat)
    return user(
      [
        { type: "text", text },
        { type: "text", text: "and this" },
      ],
      extras,
    );
  if (heartbeat) return user(text, extras);
  if (kind === "picture") return user([{ type: "text", text }, picture(saying)], extras);
  if (kind === "pictures")
    return user([picture(saying), picture({ ...saying, number: -saying.number - 1 })], extras);
  if (kind === "nothing") return user("", extras);
  return user(text, extras);
}

/** `prompt`: tokens of what the model was shown; `model`: which one answers. */
export function answer(
  kind: Answer,
  saying: Saying,
  { heartbeat, prompt, model = "kit-1" }: { heartbeat: boolean; prompt: number; model?: string },
): AgentMessage {
  const { tag, number, timestamp } = saying;
  const mark = markOf(tag, number);
  const text = {
    plain: `Item ${number} weighs ${number} kg ${mark}.`,
    same: "done",
    long: `Item ${number} ${mark}: ${wordsOf(number, LONG_WORDS)}`,
    huge: `Item ${number} ${mark}: ${inLines(wordsOf(number, hugeWords(number)))}`,
    signs: `Item ${mark} \u{1f9ee} — “${number}”\n\n\`\`\`js\nconst a = "\\n";\n\`\`\`\n`,
    thinking: `Item ${number} ${mark} is heavy.`,
    provider: `Item ${number} ${mark} was found.`,
    cut: `Item ${number} ${mark} is as far as`,
    blocks: `Item ${number} ${mark} has two sides.`,
    quoted: `[Earlier messages omitted] <summary>Item ${number} ${mark}</summary> [truncated]`,
    beat: `HEARTBEAT_OK ${mark} is what line ${number} says.`,
    ...{ thought: "", nothing: "" },
  }[kind];
  const says = heartbeat ? `HEARTBEAT_OK ${mark}` : text;
  const blocks: AssistantBlock[] = [
    ...(kind === "thinking" || kind === "thought" ? [thought(saying)] : []),
    ...(kind === "provider" ? [foreign(saying)] : []),
    ...(says === "" ? [] : [{ type: "text" as const, text: says }]),
    ...(kind === "blocks"
      ? [thought(saying), { type: "text" as const, text: `The other side of ${mark}.` }]
      : []),
  ];
  return assistant(blocks, {
    ...{ timestamp, provider: "kit", model, api: "kit" },
    ...(kind === "cut" && { stopReason: "length" as const }),
    usage: { input: prompt, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: prompt + 10 },
  });
}

const thought = ({ tag, number }: Saying): AssistantBlock => ({
  type: "thinking",
  thinking: `The notes of ${markOf(tag, number)} were read twice.`,
  thinkingSignature: `sig-${tag}-${number}`,
});

const foreign = ({ tag, number }: Saying): AssistantBlock => ({
  ...{ type: "provider", api: "kit", provider: "kit", model: "kit-1", kind: "search" },
  data: { query: markOf(tag, number), hits: [1, { deep: ["a"] }] },
});

/** One reply that calls tools; `id` names each call. */
export const calling = (
  count: number,
  saying: Saying,
  id: (index: number) => string,
): AgentMessage => {
  const { tag, number, timestamp } = saying;
  const calls: ToolCallBlock[] = Array.from({ length: count }, (_, index) => ({
    ...toolCall(
      index % 2 === 0 ? "read" : "run_command",
      {
        path: `notes-${number}/${index}.md`,
        deep: { mark: markOf(tag, number), list: [index, null] },
        ...(number % 4 === 1 && oddArguments()),
      },
      id(index),
    ),
    // As some providers sign each step: at its first call.
    ...(index === 0 && number % 2 === 1 && { thoughtSignature: `c2lnbmVk${number}` }),
  }));
  const said: AssistantBlock[] = [
    ...(number % 3 === 1 ? [thought(saying)] : []),
    ...(number % 3 === 0 ? [{ type: "text" as const, text: "I look." }] : []),
  ];
  return assistant([...said, ...calls], { timestamp, provider: "kit", model: "kit-1", api: "kit" });
};

/** What JSON can say, and few expect. */
const oddArguments = (): Record<string, unknown> =>
  JSON.parse(
    '{"": "", "constructor": "c", "漢字 \\n": [[], {}, [[1e21, 1e-9]]], "0": false, "half": "\\ud83d"}',
  );

export function result(kind: ToolReturn, call: ToolCallBlock, saying: Saying): ToolResultMessage {
  const { tag, number, timestamp } = saying;
  const text = `${call.name} found item ${number} ${markOf(tag, number)}.`;
  const details = { path: call.arguments.path, bytes: number };
  switch (kind) {
    case "long":
      return toolResult(call, `${text}\n${wordsOf(number, 4 * LONG_WORDS)}`, {
        timestamp,
        details,
      });
    case "huge":
      return toolResult(call, `${text}\n${inLines(wordsOf(number, hugeWords(number)))}`, {
        timestamp,
        details,
      });
    case "error":
      return toolResult(call, `${text} No such file.`, { timestamp, isError: true });
    case "picture":
      return toolResult(call, [{ type: "text", text }, picture(saying)], { timestamp });
    case "parts":
      return toolResult(
        call,
        [
          { type: "text", text },
          { type: "text", text: "second part" },
        ],
        {
          timestamp,
        },
      );
    case "nothing":
      return toolResult(call, [], { timestamp });
    case "same":
      return toolResult(call, "Nothing has changed since it was read last.", { timestamp });
    case "halves":
      return toolResult(call, `${text} \udc67 cut in two \ud83d`, { timestamp });
    case "quoted":
      return toolResult(call, `[truncated] ${text} [12 characters not shown]`, { timestamp });
    default:
      return toolResult(call, text, { timestamp, details });
  }
}
