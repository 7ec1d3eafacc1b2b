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

function textOf(kind: Speech, { tag, number }: Saying): string {
  const mark = markOf(tag, number);
  const text = `What do the notes ${mark} say about item ${number}?`;
  switch (kind) {
    case "same":
      return "yes, go on";
    case "long":
      return `${text} ${wordsOf(number, LONG_WORDS)}`;
    case "lines":
      return `\n  ${text}\r\n\n\t- first\n\n\n- second  `;
    case "signs":
      return `${text} naïve 漢字 👩‍👩‍👧 \u0000 <b>"'\\ {"a":[1]} \u2028 ${"é".repeat(3)}`;
    default:
      return text;
  }
}

/** Words that differ from number to number, so that no two texts are alike. */
const wordsOf = (number: number, count: number) =>
  Array.from({ length: count }, (_, index) => `w${((number + 7) * (index + 13)) % 9973}`).join(" ");

const picture = ({ tag, number }: Saying): ImageBlock => ({
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
  if (kind === "parts")
    return user(
      [
        { type: "text", text },
        { type: "text", text: "and this" },
      ],
      extras,
    );
  if (kind === "picture") return user([{ type: "text", text }, picture(saying)], extras);
  return user(text, extras);
}

/** `prompt`: tokens of what the model was shown. */
export function answer(
  kind: Answer,
  saying: Saying,
  { heartbeat, prompt }: { heartbeat: boolean; prompt: number },
): AgentMessage {
  const { tag, number, timestamp } = saying;
  const mark = markOf(tag, number);
  const text = {
    plain: `Item ${number} weighs ${number} kg ${mark}.`,
    same: "done",
    long: `Item ${number} ${mark}: ${wordsOf(number, LONG_WORDS)}`,
    signs: `Item ${mark} \u{1f9ee} — “${number}”\n\n\`\`\`js\nconst a = "\\n";\n\`\`\`\n`,
    thinking: `Item ${number} ${mark} is heavy.`,
    provider: `Item ${number} ${mark} was found.`,
  }[kind];
  const blocks: AssistantBlock[] = [
    ...(kind === "thinking" ? [thought(saying)] : []),
    ...(kind === "provider" ? [foreign(saying)] : []),
    { type: "text", text: heartbeat ? `HEARTBEAT_OK ${mark}` : text },
  ];
  return assistant(blocks, {
    timestamp,
    provider: "kit",
    model: "kit-1",
    api: "kit",
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
      },
      id(index),
    ),
    // As some providers sign each step: at its first call.
    ...(index === 0 && number % 2 === 1 && { thoughtSignature: `c2lnbmVk${number}` }),
  }));
  const said: AssistantBlock[] = number % 3 === 0 ? [{ type: "text", text: "I look." }] : [];
  return assistant([...said, ...calls], { timestamp, provider: "kit", model: "kit-1", api: "kit" });
};

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
    default:
      return toolResult(call, text, { timestamp, details });
  }
}
