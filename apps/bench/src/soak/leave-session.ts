// Takes a session away once all that was said in it is there, and tells what was.
import { setTimeout as sleep } from "node:timers/promises";
import { isWanted, storedKeys } from "./judge.ts";
import type { ClientParts, SentMessage } from "./restless-client.ts";

const RETRY_MS = 300;
/** For what waits to be said, and then for its end, ms. */
const PATIENCE_MS = 60_000;

/** The names of people's messages, each as often as it stands there. */
export async function leaveSession(
  session: string,
  sent: readonly SentMessage[],
  { url, headers, signal }: Pick<ClientParts, "url" | "headers" | "signal">,
): Promise<string[]> {
  const wanted = sent.filter((message) => message.isTaken && isWanted(message));
  const path = () => `${url()}/api/sessions/${session}`;
  const read = async () => {
    const response = await fetch(`${path()}/transcript`, { headers, signal });
    const text = await response.text();
    return response.ok ? storedKeys(text) : [];
  };
  let stored = await read();
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    if (wanted.every(({ key }) => stored.includes(key))) break;
    await sleep(RETRY_MS);
    stored = await read();
  }
  await deleteSession(session, { url, headers, signal }, async () => {
    stored = await read();
  });
  return stored;
}

/** Waits for what goes on there; `onBusy` is told each time that something does. */
export async function deleteSession(
  session: string,
  { url, headers, signal }: Pick<ClientParts, "url" | "headers" | "signal">,
  onBusy: () => Promise<void> = async () => {},
): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    const path = `${url()}/api/sessions/${session}`;
    const { status } = await fetch(path, { method: "DELETE", headers, signal });
    if (status === 200 || status === 404) return;
    await sleep(RETRY_MS);
    await onBusy();
  }
  throw new Error(`session ${session} could not be deleted`);
}
