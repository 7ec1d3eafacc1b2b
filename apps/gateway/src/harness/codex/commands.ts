// Ends the commands that Codex leaves running when a turn is stopped.
import type { LogPort } from "@clew/engine-core";
import { sleep } from "@clew/plugin-sdk/host";
import type { OpenCalls } from "../open-calls.ts";
import type { Connection } from "./connection.ts";
import { AnythingSchema, TerminalsSchema } from "./protocol.ts";

export interface EndingCommands {
  connection: Connection;
  threadId: string;
  /** Calls without a result yet. */
  own: OpenCalls;
  log: LogPort;
}

const LOOKS = 20;
const BETWEEN_MS = 50;

/** How a command ended may be told behind the turn's end; those that run on are not waited for. */
export async function hearEnds(given: EndingCommands): Promise<void> {
  const { connection, threadId, own } = given;
  for (let look = 0; look < LOOKS && own.count > 0 && connection.over === undefined; look++) {
    const running = await terminalsOf(connection, threadId).catch(() => []);
    if (running.filter(({ itemId }) => own.find(itemId ?? "")).length === own.count) return;
    await sleep(BETWEEN_MS);
  }
}

const terminalsOf = async (connection: Connection, threadId: string) =>
  (await connection.request("thread/backgroundTerminals/list", { threadId }, TerminalsSchema)).data;

/** Whoever lets them run on is ended with them. */
export async function endCommands(given: EndingCommands): Promise<void> {
  const { connection, threadId, own, log } = given;
  const params = { threadId };
  const running = () => terminalsOf(connection, threadId);
  try {
    const began = await running();
    if (began.length === 0) return;
    await connection.request("thread/backgroundTerminals/clean", params, AnythingSchema);
    // Codex tells how each of them ended.
    const isTold = () => began.every(({ itemId }) => own.find(itemId ?? "") === undefined);
    for (let look = 0; look < LOOKS && !isTold(); look++) await sleep(BETWEEN_MS);
    if ((await running()).length === 0) return;
    log.warn("Codex left a command running whose turn was stopped, so it was ended with it.");
  } catch (error) {
    if (connection.over !== undefined || own.count === 0) return;
    log.warn(
      `Codex did not end the commands of a turn that was stopped, so it was ended with them: ${String(error)}`,
    );
  }
  await connection.close();
}
