// The command `/waiting`, which lists messages that wait for their turn and takes them back.
import { visible } from "../text/visible.ts";
import type { WaitingView } from "../waiting/waiting-message.ts";
import type { CommandAnswer, CommandSession } from "./answer.ts";

export type WaitingRequest =
  | { kind: "list" }
  | { kind: "clear" }
  /** By its place in the list, from 1. */
  | { kind: "cancel"; place: number }
  | { kind: "unknown"; words: string };

/** Pure. */
export function parseWaiting(args: string): WaitingRequest {
  const words = args.trim().toLowerCase();
  if (words === "") return { kind: "list" };
  if (words === "clear") return { kind: "clear" };
  const place = /^cancel\s+(\d{1,6})$/.exec(words)?.[1];
  return place === undefined
    ? { kind: "unknown", words }
    : { kind: "cancel", place: Number(place) };
}

export async function runWaiting(
  request: WaitingRequest,
  { waiting }: Pick<CommandSession, "waiting">,
): Promise<Omit<CommandAnswer, "command">> {
  switch (request.kind) {
    case "unknown":
      return {
        ok: false,
        text: `"/waiting ${visible(request.words)}" means nothing; say "/waiting", "/waiting cancel 1" or "/waiting clear".`,
      };
    case "clear": {
      const count = await waiting.clear();
      return { ok: true, text: `Taken back: ${countOf(count)}.`, data: { takenBack: count } };
    }
    case "cancel": {
      const message = (await waiting.list())[request.place - 1];
      if (message === undefined || !(await waiting.takeBack(message.id)))
        return { ok: false, text: `No message waits at place ${request.place}.` };
      return { ok: true, text: `Taken back: ${lineOf(message)}`, data: { takenBack: 1 } };
    }
    case "list": {
      const messages = await waiting.list();
      return { ok: true, text: describeWaiting(messages), data: { waiting: messages } };
    }
  }
}

/** Pure. */
export const describeWaiting = (messages: readonly WaitingView[]): string =>
  messages.length === 0
    ? "No message waits in this session."
    : messages.map((message, index) => `${index + 1}. ${lineOf(message)}`).join("\n");

const LINE_CHARS = 100;

function lineOf({ text, images, whenBusy, problem }: WaitingView): string {
  const said = visible(text.replaceAll(/\s+/g, " "));
  const short = said.length > LINE_CHARS ? `${said.slice(0, LINE_CHARS)}…` : said;
  const pictures = images === 0 ? "" : ` (${images} ${images === 1 ? "picture" : "pictures"})`;
  const how = whenBusy === "steer" ? " [steers]" : "";
  return `${short}${pictures}${how}${problem === null ? "" : ` [could not begin: ${visible(problem)}]`}`;
}

const countOf = (count: number) => `${count} ${count === 1 ? "message" : "messages"}`;
