// Runs the tools that a reply asked for and stores one result per call.
import { isAbort, type ToolCallBlock, type ToolResultMessage } from "@clew/plugin-sdk/core";
import { describeError } from "../engine/quarantine.ts";
import type { ToolOutcome } from "../ports.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * Every call gets a result entry, so that the history stays valid: after an abort the rest are
 * answered with "aborted".
 */
export async function runToolCalls(run: TurnRun, calls: readonly ToolCallBlock[]): Promise<void> {
  for (const call of calls) {
    run.emit({ type: "tool_start", call });
    const started = run.ports.clock.monotonic();
    const outcome = run.signal.aborted ? abortedOutcome() : await runOne(run, call);
    const durationMs = run.ports.clock.monotonic() - started;
    run.waitedMs += durationMs;
    run.report.toolCalls.push({ name: call.name, durationMs, isError: outcome.isError });
    const message: ToolResultMessage = {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      ...outcome,
      timestamp: run.ports.clock.now(),
    };
    const [entry] = await run.transcript.append([{ type: "message", message }]);
    run.emit({ type: "tool_end", callId: call.id, name: call.name, isError: outcome.isError });
    run.emit({ type: "message", entryId: entry!.id, message });
  }
}

async function runOne(run: TurnRun, call: ToolCallBlock): Promise<ToolOutcome> {
  const { tools } = run.ports;
  if (tools === undefined)
    return failure(`This host offers no tools, so "${call.name}" could not run.`);
  try {
    return await tools.run({ call, session: run.session, signal: run.signal });
  } catch (error) {
    if (isAbort(error, run.signal)) return abortedOutcome();
    run.ports.log.warn(`tool "${call.name}" threw: ${describeError(error)}`);
    return failure(`Tool "${call.name}" failed: ${describeError(error)}`);
  }
}

const failure = (text: string): ToolOutcome => ({
  content: [{ type: "text", text }],
  isError: true,
});
/** "aborted" is a protocol word: policies and providers recognise it. */
const abortedOutcome = () => failure("aborted");
