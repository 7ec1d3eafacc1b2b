// Rewrites stored messages for an engine as hosts do, and checks what is written.
import type {
  RuntimeContext,
  TranscriptRewriteRequest,
  TranscriptRewriteResult,
} from "../../contract/runtime.ts";
import { contentFault } from "./content.ts";
import { named } from "./judge-view.ts";
import type { Stage } from "./stage.ts";
import type { Talk } from "./talk.ts";

/** A rewrite that is lent to one call. */
export interface Loan {
  rewrite: NonNullable<RuntimeContext["rewriteTranscriptEntries"]>;
  /** What was rewritten. */
  done: TranscriptRewriteResult[];
  /** Nothing can be rewritten from here on. */
  end(): void;
}

/** `who`: the method that it is lent to. */
export function lendRewrite(stage: Stage, talk: Talk, who: string): Loan {
  const done: TranscriptRewriteResult[] = [];
  let isOver = false;
  return {
    done,
    end: () => {
      isOver = true;
    },
    async rewrite(request) {
      if (isOver) throw new Error("the call is over that could rewrite the transcript");
      checkReplacements(stage, talk, request, who);
      const result = talk.transcript.replace(request.replacements);
      if (result.changed) talk.readsOtherwise();
      done.push(result);
      await stage.file(talk);
      return result;
    },
  };
}

/** What is written in the place of a message is the message, and says what was cut of it. */
function checkReplacements(
  stage: Stage,
  { transcript }: Talk,
  { replacements }: TranscriptRewriteRequest,
  who: string,
): void {
  const items = transcript.items();
  for (const { entryId, message } of replacements) {
    const item = items.find((one) => one.entryId === entryId);
    if (item === undefined) continue;
    const fault = contentFault(message, transcript.versionsOf(item.message), "results");
    if (fault !== undefined)
      stage.fail(who, `had ${named(item.message)} stored otherwise: ${fault}`);
  }
}
