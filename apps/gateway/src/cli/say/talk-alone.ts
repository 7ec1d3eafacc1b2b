// Says something in a session that this process holds.
import type { TurnEvent } from "@clew/engine-core";
import type { UserBlock } from "@clew/plugin-sdk/core";
import { parseLine } from "../../commands/parse.ts";
import type { WhenBusy } from "../../config/when-busy.ts";
import type { Gateway } from "../../gateway.ts";
import { shownEvent } from "../../http/event-stream.ts";
import { inSafeMode } from "../../plugins/load/record.ts";
import { type Output, printable } from "../../terminal/output.ts";
import { IT_WAITS, type Shown, showAsJson, showEvents, tellEnd } from "./print-events.ts";
import type { Talk } from "./talk.ts";

export interface TalkAloneOptions {
  gateway: Gateway;
  /** Canonical. */
  key: string;
  output: Output;
  json: boolean;
  whenBusy: WhenBusy | undefined;
}

export function talkAlone({ gateway, key, output, json, whenBusy }: TalkAloneOptions): Talk {
  let running: AbortController | undefined;
  const waiting = new Set<Promise<unknown>>();
  async function speak(content: string | UserBlock[], show: Shown, signal: AbortSignal) {
    const result = await gateway.send({ key, content, signal, onEvent: toldTo(show), whenBusy });
    const { outcome, error, report } = result;
    const stopReason = report.modelCalls.at(-1)?.stopReason ?? null;
    const safeMode = inSafeMode(gateway.plugins?.records() ?? []);
    const told = { outcome, error, stopReason, ...(safeMode.length > 0 && { safeMode }) };
    if (json) output.write(`${JSON.stringify({ type: "done", ...told })}\n`);
    else tellEnd(output, show, error);
    return outcome;
  }
  return {
    isTalking: () => running !== undefined || waiting.size > 0,
    async settled() {
      while (waiting.size > 0) await Promise.allSettled(waiting);
    },
    async sayMeanwhile(text) {
      const line = parseLine(text);
      if (line.kind === "command") {
        const answer = await gateway.command(key, line);
        return output.note(printable(answer.text));
      }
      const show = showEvents(output);
      const taken = await gateway.offer({
        ...{ key, content: line.text, whenBusy, onEvent: toldTo(show) },
      });
      if (taken.waiting !== null) output.note(IT_WAITS);
      // A message that steered a turn ends with that turn, which tells of itself.
      const ended = taken.result.then((result) => {
        if (result.outcome !== "known") tellEnd(output, show, result.error);
      });
      waiting.add(ended);
      const leave = () => void waiting.delete(ended);
      ended.then(leave, leave);
    },
    async say(text) {
      running = new AbortController();
      const { signal } = running;
      try {
        const show = json ? showAsJson(output) : showEvents(output);
        const line = parseLine(text);
        if (line.kind !== "command") return await speak(line.text, show, signal);
        const answer = await gateway.command(key, line, { signal, onEvent: toldTo(show) });
        const { say, ...told } = answer;
        if (json) output.write(`${JSON.stringify({ type: "command", ...told })}\n`);
        else output.line(printable(answer.text));
        if (say !== undefined) return await speak(say, show, signal);
        return answer.ok ? "completed" : "failed";
      } finally {
        running = undefined;
      }
    },
    cancel() {
      if (running === undefined) return waiting.size > 0 && gateway.cancel(key);
      running.abort(new DOMException("Cancelled by the person.", "AbortError"));
      return true;
    },
  };
}

const toldTo = (show: Shown) => (event: TurnEvent) => {
  const shown = shownEvent(event);
  if (shown !== undefined) show.take(shown);
};
