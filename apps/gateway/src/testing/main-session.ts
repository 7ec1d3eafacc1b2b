// Talks to the main session of gateways in processes of their own.
import { textOf } from "@clew/plugin-sdk/transcript";
import { expect } from "vitest";
import type { StreamedEvent } from "../http/event-stream.ts";
import { readEvents } from "../http/read-events.ts";
import { post } from "./gateway.ts";
import type { Place } from "./killed-gateways.ts";

export const askMain = ({ port }: Place, path: string, init?: RequestInit) =>
  fetch(`http://127.0.0.1:${port}/api/sessions/main${path}`, init);

/** Sends a message; what its stream tells, while it does, and all of it in the end. */
export async function sendToMain(place: Place, body: Record<string, unknown>) {
  const response = await askMain(place, "/messages", post(body));
  const events: StreamedEvent[] = [];
  const types = () => events.map(({ type }) => type);
  const all = (async () => {
    for await (const event of readEvents(response.body!)) events.push(event);
    return events;
  })();
  all.catch(() => {});
  const told = (type: string) => expect.poll(types, { timeout: 30_000 }).toContain(type);
  return { status: response.status, events, types, all, told };
}

/** "role: text" of each message, oldest first. */
export async function saidInMain(place: Place): Promise<string[]> {
  const { messages } = await (await askMain(place, "/messages")).json();
  return (messages as { role: string }[]).map(
    (message) => `${message.role}: ${textOf(message as never)}`,
  );
}
