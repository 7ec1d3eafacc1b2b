// Decides whether a session may move to a transcript that an engine made.
import { createReadStream } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { parseTranscriptLine, type TranscriptHeader } from "@clew/plugin-sdk/transcript";
import { isSafeId } from "./keys.ts";
import { transcriptFile } from "./paths.ts";
import { readTranscript } from "./read-transcript.ts";

/**
 * The file to move to. Engines write a successor where its session lives; nothing else is moved
 * to. Throws ENGINE_OPERATION_FAILED.
 */
export async function checkSuccessor(
  home: string,
  agentId: string,
  given: { sessionId: string; sessionFile: string | undefined },
): Promise<string> {
  const refuse = (why: string) =>
    new ContextEngineError(
      "ENGINE_OPERATION_FAILED",
      `The session cannot move to the engine's transcript "${given.sessionId}": ${why}; it stays where it is.`,
    );
  if (!isSafeId(given.sessionId)) throw refuse("that is not a session id");
  const file = transcriptFile(home, agentId, given.sessionId);
  const realOf = (path: string) => realpath(path).catch(() => null);
  const [real, named] = [await realOf(file), await realOf(given.sessionFile ?? file)];
  if (real === null) throw refuse(`there is no file ${file}`);
  if (named !== real || dirname(real) !== (await realpath(dirname(file))))
    throw refuse("it is outside the agent's sessions folder");
  const header = (await readHeader(file)) ?? (await readTranscript(file)).header;
  if (header.id !== given.sessionId) throw refuse(`the file calls itself "${header.id}"`);
  return file;
}

/** From the first line alone; undefined when that is no header. */
async function readHeader(file: string): Promise<TranscriptHeader | undefined> {
  const input = createReadStream(file);
  try {
    for await (const line of createInterface({ input })) {
      const parsed = parseTranscriptLine(line);
      return parsed.kind === "header" ? parsed.header : undefined;
    }
    return undefined;
  } finally {
    input.destroy();
  }
}
