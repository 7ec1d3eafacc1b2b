// How agent messages follow each other on the Gemini wire.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { writeGrowing } from "../shared/growing.ts";
import { wellFormedJson } from "../shared/well-formed.ts";
import {
  type AskedCall,
  askedCalls,
  type GeminiPart,
  modelParts,
  type PartReader,
  resultParts,
  userParts,
} from "./parts.ts";

/** One entry of `contents`, as JSON. */
export interface GeminiContent<Part = GeminiPart> {
  role: "user" | "model";
  parts: Part[];
}

/** A content that what follows may still belong to. */
interface Turn {
  readonly role: GeminiContent["role"];
  /** Answers to calls: they stand before everything else, in the order of the calls. */
  readonly answers: readonly Answer[];
  readonly others: GeminiPart[];
}

interface Answer {
  /** Place of its call in the reply. */
  readonly at: number;
  readonly part: GeminiPart;
}

interface Progress {
  readonly open: Turn | undefined;
  /** The calls of the newest reply. */
  readonly asked: readonly AskedCall[];
}

/**
 * The messages of a call as JSON, joined by commas. Pairing and order are the transcript policy's;
 * this only translates, and puts what follows in the same role into one content.
 */
export function writeContents(messages: readonly AgentMessage[], reader: PartReader): string {
  const { model, profile, place } = reader;
  return writeGrowing<Progress>({
    messages,
    // Everything about a reader that its messages depend on.
    shape: [profile, place, model.api, model.provider, model.id, model.acceptsImages],
    before: { open: undefined, asked: [] },
    write: (fresh, progress) => writeTurns(fresh, progress, reader),
    end: ({ open }) => (open === undefined ? "" : json([open])),
  });
}

function writeTurns(
  messages: readonly AgentMessage[],
  progress: Progress,
  reader: PartReader,
): { text: string; state: Progress } {
  const whole: Turn[] = [];
  let { open, asked } = progress;
  for (const message of messages) {
    const read = turnOf(message, asked, reader);
    if (read === undefined) continue;
    if (open?.role === read.turn.role) {
      asked = [...asked, ...read.asked];
      open = joined(open, read.turn);
    } else {
      asked = read.turn.role === "model" ? read.asked : asked;
      if (open !== undefined) whole.push(open);
      open = read.turn;
    }
  }
  return { text: json(whole), state: { open, asked } };
}

interface Read {
  turn: Turn;
  asked: readonly AskedCall[];
}

/** Undefined for a message that says nothing. */
function turnOf(
  original: AgentMessage,
  asked: readonly AskedCall[],
  reader: PartReader,
): Read | undefined {
  const message = toModelMessage(original);
  switch (message?.role) {
    case "user": {
      const others = userParts(message, reader);
      return others.length === 0
        ? undefined
        : { turn: { role: "user", answers: [], others }, asked: [] };
    }
    case "toolResult": {
      const at = asked.findIndex(({ id }) => id === message.toolCallId);
      const { answer, after } = resultParts(message, reader, asked[at]);
      return { turn: { role: "user", answers: [{ at, part: answer }], others: after }, asked: [] };
    }
    case "assistant": {
      const others = modelParts(message, reader);
      if (others.length === 0) return undefined;
      return { turn: { role: "model", answers: [], others }, asked: askedCalls(message, reader) };
    }
    case undefined:
      return undefined;
  }
}

const joined = (first: Turn, second: Turn): Turn => ({
  role: first.role,
  answers: [...first.answers, ...second.answers],
  others: [...first.others, ...second.others],
});

/** In one go: that is faster than one by one. */
const json = (turns: readonly Turn[]): string =>
  wellFormedJson(
    turns.map(
      ({ role, answers, others }): GeminiContent => ({
        role,
        parts: answers.length === 0 ? others : [...inOrder(answers), ...others],
      }),
    ),
  ).slice(1, -1);

const inOrder = (answers: readonly Answer[]): readonly GeminiPart[] =>
  answers.toSorted((one, other) => one.at - other.at).map(({ part }) => part);
