// How an entry of a session reads in a terminal.
import type { AgentMessage, UserMessage } from "@clew/plugin-sdk/core";
import { otherSessionOf, speakerOf, textOf } from "@clew/plugin-sdk/transcript";
import { isInForce, readOwner } from "../locks/lock.ts";
import { counted } from "../text/number.ts";
import { countImages } from "../text/shown-text.ts";
import { visible, visibleJson } from "../text/visible.ts";
import { callsWithoutResult } from "./calls-without-result.ts";
import type { ShownEntry } from "./shown.ts";
import type { ReadSession } from "./store.ts";

export const NEVER = "never answered: its turn ended before, and the model is told so";
const NOT_YET = "no result yet";

/** What became of calls without a result, by entry and call. */
export async function fatesOf({ file, branch }: ReadSession): Promise<ReadonlyMap<string, string>> {
  const owner = await readOwner(`${file}.lock`);
  const isOpen = owner !== null && (await isInForce(owner));
  return new Map(
    [...callsWithoutResult(branch)].flatMap(([entryId, { callIds, isOver }]) =>
      callIds.map((id) => [`${entryId} ${id}`, isOver || !isOpen ? NEVER : NOT_YET] as const),
    ),
  );
}

export function formatEntry(
  entry: ShownEntry,
  fates: ReadonlyMap<string, string> = new Map(),
): string {
  const head = `[${entry.timestamp.slice(0, 19).replace("T", " ")}] ${entry.id}`;
  if (entry.type !== "message") return `${head} (${entry.type})`;
  const { message } = entry;
  const fateOf = (callId: string) => fates.get(`${entry.id} ${callId}`);
  return [
    `${head} ${whoSaid(message)}:`,
    ...saidIn(message, fateOf).map((text) => indent(text)),
    "",
  ].join("\n");
}

/** Text, how many images, calls, and why it failed; what is not there is left out. */
export function saidIn(
  message: AgentMessage,
  fateOf: (callId: string) => string | undefined = () => undefined,
): string[] {
  const calls =
    message.role === "assistant" && Array.isArray(message.content)
      ? message.content.flatMap((block) =>
          block.type === "toolCall"
            ? [
                `→ ${visible(block.name)} ${visibleJson(block.arguments)}${fateText(fateOf(block.id))}`,
              ]
            : [],
        )
      : [];
  return [textOf(message), imagesOf(message), ...calls, failureOf(message)].filter(
    (text) => text !== "",
  );
}

const fateText = (fate: string | undefined): string => (fate === undefined ? "" : `\n  (${fate})`);

export function whoSaid(message: AgentMessage): string {
  const other = otherSessionOf(message);
  if (other !== undefined) return other.key === null ? "other sessions" : speakerOf(message);
  if (message.role === "user" && isOfJob(message)) return "job";
  return message.role === "toolResult" ? `${message.role} ${message.toolName}` : message.role;
}

/** A job said it, and no person. */
const isOfJob = ({ __openclaw: envelope }: UserMessage): boolean =>
  envelope?.kind === "cron" || envelope?.kind === "heartbeat";

/** How many images it holds; "" = none. */
function imagesOf(message: AgentMessage): string {
  const images = "content" in message ? countImages(message.content) : 0;
  return images === 0 ? "" : `(${counted(images, "image")})`;
}

/** Why a reply ended before its time; "" = it did not. */
const failureOf = (message: AgentMessage): string =>
  message.role === "assistant" && message.errorMessage
    ? `(${message.stopReason === "aborted" ? "stopped" : "failed"}: ${message.errorMessage})`
    : "";

const indent = (text: string) => `  ${text.replaceAll("\n", "\n  ")}`;
