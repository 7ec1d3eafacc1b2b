// Reads, writes and runs in an editor, as far as it offers that.
import type { AgentContext, ClientCapabilities } from "@agentclientprotocol/sdk";
import { isAbort } from "@clew/plugin-sdk/core";
import { abortable } from "@clew/plugin-sdk/host";
import type { EditorClient, EditorCommand } from "../tools/editor-client.ts";
import type { CommandRun } from "../tools/run-command.ts";

export interface EditorClientOptions {
  client: AgentContext;
  sessionId: string;
  capabilities: ClientCapabilities;
  /** A command runs in a terminal that the editor may show. */
  onTerminal(callId: string, terminalId: string): void;
}

const OUTPUT_BYTES = 16 * 1024;
/** For what is left to say of a command that was stopped. */
const LAST_WORDS_MS = 2000;

/** What the editor does not offer is not there. */
export function createEditorClient(options: EditorClientOptions): EditorClient {
  const { client, sessionId, capabilities } = options;
  const { fs, terminal } = capabilities;
  return {
    ...(fs?.readTextFile === true && {
      async readText(path: string, signal: AbortSignal) {
        const asked = { sessionId, path };
        const { content } = await abortable(signal, () =>
          client.request("fs/read_text_file", asked, until(signal)),
        );
        return content;
      },
    }),
    ...(fs?.writeTextFile === true && {
      async writeText(path: string, content: string, signal: AbortSignal) {
        const asked = { sessionId, path, content };
        await abortable(signal, () => client.request("fs/write_text_file", asked, until(signal)));
      },
    }),
    ...(terminal === true && { run: (command: EditorCommand) => runIn(options, command) }),
  };
}

/** The editor is told that nobody waits any more. */
const until = (cancellationSignal: AbortSignal) => ({ cancellationSignal });

/** Rejects with the signal's reason when it is stopped, after the command was ended. */
async function runIn(
  { client, sessionId, onTerminal }: EditorClientOptions,
  { line, cwd, timeoutMs, signal, callId }: EditorCommand,
): Promise<CommandRun> {
  signal.throwIfAborted();
  const { terminalId } = await client.request("terminal/create", {
    ...{ sessionId, command: "/bin/sh", args: ["-c", line], cwd },
    outputByteLimit: OUTPUT_BYTES,
  });
  onTerminal(callId, terminalId);
  const asked = { sessionId, terminalId };
  const timer = AbortSignal.timeout(Math.min(timeoutMs, 2 ** 31 - 1));
  const bounded = AbortSignal.any([signal, timer]);
  try {
    const exit = await abortable(bounded, () =>
      client.request("terminal/wait_for_exit", asked, until(bounded)),
    ).catch(async (error: unknown) => {
      if (!bounded.aborted) throw error;
      const soon = AbortSignal.timeout(LAST_WORDS_MS);
      await abortable(soon, () => client.request("terminal/kill", asked, until(soon)));
      return { exitCode: null, signal: null };
    });
    signal.throwIfAborted();
    const last = AbortSignal.any([signal, AbortSignal.timeout(LAST_WORDS_MS)]);
    const { output, truncated } = await abortable(last, () =>
      client.request("terminal/output", asked, until(last)),
    );
    return {
      ...{ exitCode: exit.exitCode ?? null, endedBy: exit.signal ?? null },
      timedOutAfterMs: timer.aborted ? timeoutMs : null,
      output: truncated ? `…\n${output}` : output,
      cutBytes: 0,
    };
  } catch (error) {
    signal.throwIfAborted();
    throw isAbort(error) ? new Error("The editor did not say what became of it.") : error;
  } finally {
    // The editor may go on to show it.
    void client.request("terminal/release", asked).catch(() => {});
  }
}
