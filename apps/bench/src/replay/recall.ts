// What whoever reads a request can ask for besides.
import type { ToolPort } from "@clew/engine-core";
import { messageId } from "@clew/plugin-sdk/core";
import { SESSION_TOOLS } from "../../../gateway/src/recall/record-text.ts";
import type { OpenSession } from "../../../gateway/src/sessions/open.ts";
import type { Script } from "./script.ts";
import { textsOf } from "./texts.ts";

/** What was given back. */
export interface Recalled {
  /** What it quotes of the session. */
  texts: readonly string[];
  /** All that it says, as a model would read it. */
  answer: string;
}

/** Ways back to what is not in view. */
export interface Recall {
  /** What one call for a name gives back; the name by its place in the script's. */
  find(name: number, view: { named: ReadonlySet<number>; history: number }): Promise<Recalled>;
  /** What at most two calls for a message give back; the message by its place in the recording. */
  read(place: number): Promise<Recalled>;
}

/** Calls that one message may take. */
export const READS = 2;

/** The session's own tools, used as a model would: a search for a name, pages of a message. */
export function sessionRecall(
  { names, messages }: Script,
  session: OpenSession,
  tools: ToolPort,
  signal: AbortSignal,
): Recall {
  const run = async (name: string, args: Record<string, unknown>) => {
    const call = { type: "toolCall" as const, id: "bench", name, arguments: args };
    const { content } = await tools.run({ call, session: session.session, signal });
    return content.map((block) => (block.type === "text" ? block.text : "")).join("");
  };
  return {
    async find(name) {
      const answer = await run(SESSION_TOOLS.search, { query: names[name] });
      return { texts: recordsIn(answer), answer };
    },
    async read(place) {
      const number = messageAt(session, messages[place]!)?.number ?? 0;
      const answers: string[] = [];
      for (let page = 1; page <= READS && number > 0; page++) {
        const answer = await run(SESSION_TOOLS.read, { id: `#${number}`, page });
        answers.push(answer);
        if (!answer.endsWith(`There is more: page ${page + 1}.`)) break;
      }
      return { texts: [answers.flatMap(recordsIn).join("")], answer: answers.join("\n") };
    },
  };
}

/** What an answer quotes. */
export const recordsIn = (answer: string): string[] =>
  [...answer.matchAll(/<record [^>]*>\n([\s\S]*?)\n<\/record>/g)].map(([, text]) => text ?? "");

/** A message as the session holds it. */
interface Held {
  /** Counted from 1. */
  number: number;
  id: string;
}

/** The newest with the same text. Undefined: there is none. */
export function messageAt(
  session: OpenSession,
  message: Script["messages"][number],
): Held | undefined {
  const branch = session.branch();
  const known =
    held.get(branch) ??
    new Map(
      branch
        .filter((entry) => entry.type === "message")
        .map(({ id, message: one }, at) => [
          JSON.stringify(textsOf(one)),
          { number: at + 1, id: messageId(one) ?? id },
        ]),
    );
  held.set(branch, known);
  return known.get(JSON.stringify(textsOf(message)));
}

const held = new WeakMap<object, ReadonlyMap<string, Held>>();
