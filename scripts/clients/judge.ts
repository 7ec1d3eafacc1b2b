// Judges what a client got, what went upstream, and what was stored of it.
import type { DoorApi } from "../../apps/gateway/src/door/wires/door-wire.ts";
import type { Client } from "./clients.ts";
import type { Taken } from "./model-server.ts";
import type { RunOutcome } from "./run-client.ts";
import { textsIn } from "./see-request.ts";
import { finalWords, newestFile, type Part, type Task } from "./task.ts";

export interface Judged {
  /** Files that were read, of all conversations. */
  read: number;
  files: number;
  /** Requests that begin with all of the one before in their conversation. */
  kept: number;
  /** Sessions in which a model has called. */
  sessions: number;
  conversations: number;
  /** Of the messages that all conversations have, those stored as often as they were said. */
  storedOnce: number;
  messages: number;
  /** Replies that reached the client otherwise than they were given. */
  changedReplies: number;
  refused: number;
  compactions: number;
  known: number;
  facts: number;
}

export function judge(outcome: RunOutcome, { api }: Pick<Client, "api">): Judged {
  const { task, model, sessions } = outcome;
  const talking = sessions.filter(({ messages }) => messages.some(callsTool));
  const counts = countStored(task, talking, model.taken);
  const summaries = model.taken.filter(({ kind }) => kind === "summary").length;
  const asked = model.taken.findLast(({ known }) => known !== undefined);
  return {
    read: [...task.parts.keys()].reduce((sum, part) => sum + filesRead(model.taken, part), 0),
    files: filesOf(task),
    kept: keptIn(api, model.taken),
    sessions: talking.length,
    conversations: 1 + task.delegated.length,
    storedOnce: counts.filter((count) => count === 1).length,
    messages: counts.length,
    changedReplies: changedReplies(outcome),
    refused: model.refused + outcome.answers.filter(({ status }) => TOO_LARGE.has(status)).length,
    compactions: Math.max(summaries, ...sessions.map(({ compactions }) => compactions)),
    known: asked?.known?.length ?? 0,
    facts: task.facts.length,
  };
}

const TOO_LARGE: ReadonlySet<number> = new Set([400, 413]);

const filesOf = ({ parts }: Task) =>
  [...parts.values()].reduce((sum, { length }) => sum + length, 0);

/** Those whose results came back: the next one was asked for, or the end was told. */
function filesRead(taken: readonly Taken[], part: Part): number {
  const own = taken.filter((one) => one.part === part);
  const end = own.find(({ kind }) => kind === "final");
  const newest = Math.max(0, ...own.map(({ file }) => file - 1));
  return end === undefined ? newest : Math.max(newest, ...own.map(({ file }) => file));
}

/** How often each message is stored for each time that it was said. */
function countStored(
  task: Task,
  sessions: RunOutcome["sessions"],
  taken: readonly Taken[],
): number[] {
  const count = (role: string, words: string) =>
    sessions
      .flatMap(({ messages }) => messages)
      .filter((one) => one.role === role && textsIn(one.content).join("\n").includes(words)).length;
  const calls = sessions.flatMap(({ messages }) =>
    callsIn(messages, task).map(({ part, file, id }) => {
      const answers = messages.filter(({ toolCallId }) => toolCallId === id).length;
      return { part, file, answers };
    }),
  );
  const requests = taken.map(({ messages }) => JSON.stringify(messages));
  const counts = [task.prompt, ...task.delegated].map((words) => count("user", words));
  for (const [part, files] of task.parts) {
    counts.push(count("assistant", finalWords(part, files.length)));
    for (let file = 1; file <= files.length; file++) {
      const own = calls.filter((call) => call.part === part && call.file === file);
      const times = timesRead({ taken, requests }, part, file);
      counts.push(own.length / times, own.reduce((sum, { answers }) => sum + answers, 0) / times);
    }
  }
  return counts;
}

/** A client may run a call of a reply that broke off, and the one of the next try as well. */
function timesRead(
  { taken, requests }: { taken: readonly Taken[]; requests: readonly string[] },
  part: Part,
  file: number,
): number {
  const read = taken.filter(
    (one) =>
      one.part === part && one.file === file && requests.some((text) => text.includes(one.id)),
  );
  return Math.max(1, read.length);
}

const callsTool = ({ role, content }: RunOutcome["sessions"][number]["messages"][number]) =>
  role === "assistant" &&
  Array.isArray(content) &&
  content.some(({ type }: { type?: string }) => type === "toolCall");

interface StoredCall {
  part: Part;
  file: number;
  id: string;
}

function callsIn(
  messages: RunOutcome["sessions"][number]["messages"],
  { parts, folder }: Task,
): StoredCall[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== "assistant" || !Array.isArray(content)) return [];
    return (content as { type: string; id: string; arguments?: unknown }[]).flatMap((block) => {
      if (block.type !== "toolCall") return [];
      const text = JSON.stringify(block.arguments);
      const named = [...parts.keys()].map(
        (part) => [part, newestFile(text, folder, part)] as const,
      );
      return named.flatMap(([part, file]) => (file > 0 ? [{ part, file, id: block.id }] : []));
    });
  });
}

/** Of requests of a conversation; what was asked beside does not count. */
function keptIn(api: DoorApi, taken: readonly Taken[]): number {
  let kept = 0;
  const newest = new Map<Part, readonly string[]>();
  for (const { kind, part, file, fault, messages } of taken) {
    if (kind !== "step" || file === 0 || fault !== undefined) continue;
    const list = messages.map((message) => plainOf(api, message));
    if ((newest.get(part) ?? []).every((one, at) => one === list[at])) kept++;
    newest.set(part, list);
  }
  return kept;
}

/** Markers move, and make a list of a text. */
function plainOf(api: DoorApi, message: object): string {
  if (api !== "anthropic-messages") return JSON.stringify(message);
  const { content, ...others } = message as { content?: unknown };
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return JSON.stringify({ ...others, content: blocks }, (name, value: unknown) =>
    name === "cache_control" ? undefined : value,
  );
}

/** All of it has to be the same, usage included, but for signs of life while it was held. */
function changedReplies({ model, answers }: RunOutcome): number {
  const whole = answers.map(({ text }) => text.replaceAll(/^:.*\n+/gm, ""));
  return model.taken.filter(
    ({ kind, answer, id }) =>
      kind !== "look" && answer !== "" && !whole.some((t) => t.includes(id) && t === answer),
  ).length;
}
