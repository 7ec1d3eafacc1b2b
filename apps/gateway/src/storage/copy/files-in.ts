// Copies what is beside sessions in a home into a database.
import { readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { whoClaims } from "../../home/claim.ts";
import { packPart, unpackPart } from "../../reports/packed-part.ts";
import { storageReason } from "../../storage-reason.ts";
import { counted } from "../../text/number.ts";
import { fileToKeep } from "./file-to-keep.ts";
import { type Known, stampOf } from "./known.ts";
import { CHANGED, type CopyIn, type CopyResult } from "./result.ts";
import { keptWaiting, newMessages, rowsOf, shaOfText, waitingOf } from "./waiting.ts";
import { type AgentHome, bytesIn, type HomeFile, shaOf } from "./walk-home.ts";

const PARTS_AT_A_TIME = 200;

/** Those that cannot be kept as text, or not so that they are the same again, as files. */
export async function copyParts(
  request: CopyIn,
  { agentId, parts }: AgentHome,
  known: Known,
  result: CopyResult,
): Promise<void> {
  const { copy, signal, isCheck, says } = request;
  const hashes = [...parts.keys()];
  for (let at = 0; at < hashes.length; at += PARTS_AT_A_TIME) {
    signal.throwIfAborted();
    says(`${at} of ${counted(hashes.length, "part")} of reports`);
    const some = hashes.slice(at, at + PARTS_AT_A_TIME);
    const missing = new Set(await copy.missingParts(agentId, some));
    const contents = new Map<string, string>();
    const odd: HomeFile[] = [];
    for (const name of some) {
      const file = parts.get(name)!;
      // Of one that is there already it is known that it says the same, as its name does.
      if (!missing.has(name)) continue;
      const bytes = await whereReadable(result, file.place, () => readFile(file.path));
      if (bytes === undefined) continue;
      const text = await unpackPart(bytes).catch(() => undefined);
      const isPlain = text !== undefined && !text.includes("\0");
      if (isPlain) contents.set(name, text);
      if (!isPlain || !(await packPart(text)).equals(bytes)) odd.push(file);
      else {
        result.files += 1;
        result.bytes += file.size;
      }
    }
    await copyLoose(request, agentId, odd, known, result);
    if (contents.size > 0 && !isCheck) await copy.putParts(agentId, contents);
  }
}

/** What a file system does not give is named, and the rest is copied. */
export async function whereReadable<Answer>(
  { left }: CopyResult,
  what: string,
  work: () => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (typeof code !== "string" || syscall === undefined || ContextEngineError.is(error))
      throw error;
    const why = code === "ENOENT" ? CHANGED : `it cannot be read, as ${storageReason(error)}`;
    left.push({ what, why });
    return undefined;
  }
}

/** Files that are of no session, or of something that is none. */
export async function copyLoose(
  { copy, homeId, signal, isCheck }: CopyIn,
  agentId: string,
  files: readonly HomeFile[],
  known: Known,
  result: CopyResult,
): Promise<void> {
  for (const file of files) {
    signal.throwIfAborted();
    await whereReadable(result, file.place, async () => {
      const sha = await shaOf(bytesIn(file));
      if (known.files.get(file.place) === stampOf({ kind: file.kind, sha })) return;
      const whole = fileToKeep({ ...file, sha }, { agentId, sessionId: null, head: null });
      if (!isCheck) await copy.keep(homeId, whole);
      result.files += 1;
      result.bytes += file.size;
    });
  }
}

/** What was copied once is the database's: a message that was said there is not put there again. */
export async function copyWaiting(
  { home, homeId, copy, isCheck }: CopyIn,
  agent: AgentHome,
  known: Known,
  result: CopyResult,
): Promise<HomeFile[]> {
  const others: HomeFile[] = [];
  const runs = agent.waiting.length > 0 ? await whoClaims(home) : null;
  for (const file of agent.waiting) {
    const text = await whereReadable(result, file.place, () => readFile(file.path, "utf8"));
    if (text === undefined) continue;
    const found = waitingOf(text);
    if (found === undefined) others.push(file);
    if (found === undefined || known.files.get(file.place) === stampOf(textFile(text))) continue;
    const { sessionKey, messages } = found;
    if (runs !== null) {
      const what = counted(messages.length, "message waits", "messages wait");
      const why = `${what} there, and the gateway of this home runs (process ${runs.pid}); stop it, and copy again`;
      result.left.push({ what: sessionKey, why });
      continue;
    }
    const kept = known.kept.get(file.place);
    const fresh = newMessages(messages, (await keptWaiting(copy, kept)).messages);
    result.files += 1;
    if (isCheck) continue;
    const whole = { ...file, ...textFile(text) };
    await copy.keep(
      homeId,
      fileToKeep(whole, { agentId: agent.agentId, sessionId: null, head: null }),
      {
        ...{ agentId: agent.agentId, key: sessionKey, messages: rowsOf(fresh) },
      },
    );
  }
  return others;
}

const textFile = (text: string) => ({
  ...{ kind: "file" as const, sha: shaOfText(text), size: Buffer.byteLength(text) },
});
