// Reads of a soak's home what its sessions hold, and what still waits for them.
import { shortName } from "../../../gateway/src/sessions/keys.ts";
import { createSessionStore } from "../../../gateway/src/sessions/store.ts";
import { createWaitingFiles } from "../../../gateway/src/waiting/waiting-files.ts";
import type { Talk } from "./door-client.ts";
import { namesIn } from "./said-names.ts";

/** The names of people's messages, each as often as it stands in a session. */
export async function storedIn(home: string, sessions: ReadonlySet<string>): Promise<string[]> {
  const store = createSessionStore({ home });
  const stored: string[] = [];
  for (const name of sessions) {
    const session = await store.read(name).catch(() => null);
    for (const entry of session?.branch ?? [])
      if (entry.type === "message" && entry.message.role === "user")
        stored.push(entry.message.idempotencyKey ?? "");
  }
  return stored;
}

/** Short names of all sessions. */
export const sessionsIn = async (home: string) =>
  (await createSessionStore({ home }).list()).map(({ key }) => shortName(key));

/** The names of those that still wait: the next gateway would say them. */
export async function keptIn(home: string, said: readonly string[]): Promise<string[]> {
  const log = { info() {}, warn() {}, error() {} };
  const found = await createWaitingFiles({ home, log }).all();
  const names = found.flatMap(({ messages }) => messages.map((one) => one.idempotencyKey));
  // One that was said when the gateway was killed may stand in both places, and is said once.
  const known = new Set(said);
  return names.filter((name) => !known.has(name));
}

/** Of what stands on the branches of all sessions of a conversation, which has one. */
export async function storedNames(home: string, { sessions }: Talk): Promise<string[]> {
  const store = createSessionStore({ home });
  const stored: string[] = [];
  for (const name of sessions) {
    const session = await store.read(name).catch(() => null);
    for (const entry of session?.branch ?? [])
      if (entry.type === "message" && "content" in entry.message)
        stored.push(...namesIn(entry.message.content));
  }
  return stored;
}
