// Where the questions come from that tools ask a person, and where the answers go.
import { type Approval, type ApprovalAnswer, describeEnd } from "../../approvals/approval.ts";
import type { Approvals } from "../../approvals/queue.ts";
import type { StreamedEvent } from "../../http/event-stream.ts";
import type { ChatPort } from "../chat/port.ts";

export interface QuestionWatcher {
  asked(approval: Approval): void;
  /** `why`: nobody answered, and that is to be told; null = somebody did. */
  over(id: string, why: string | null): void;
}

export interface Questions {
  /** Shows them, from those that wait on; the function it gives ends that. */
  watch(watcher: QuestionWatcher): () => void;
  /** The first answer counts. */
  answer(id: string, answer: ApprovalAnswer): void;
}

/** Those of a gateway in this process. */
export const ownQuestions = (approvals: Pick<Approvals, "attach" | "answer">): Questions => ({
  watch: ({ asked, over }) =>
    approvals.attach({
      canAnswer: true,
      asked,
      over: ({ id }, end) => over(id, end.kind === "answered" ? null : describeEnd(end)),
    }),
  answer: (id, answer) => void approvals.answer(id, answer, "terminal"),
});

export interface ToldQuestions extends Questions {
  /** What a gateway tells of a turn. */
  take(event: StreamedEvent): void;
}

/** Those that the turns ask of which this process is told. */
export function toldQuestions(port: Pick<ChatPort, "answer">): ToldQuestions {
  const watchers = new Set<QuestionWatcher>();
  const answered = new Set<string>();
  /** Each turn that waits tells of the same. */
  const open = new Set<string>();
  return {
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    answer(id, answer) {
      answered.add(id);
      // Whoever was faster is told of as the end of the question.
      port.answer(id, answer).catch(() => {});
    },
    take(event) {
      if (event.type === "approval" && !open.has(event.approval.id)) {
        open.add(event.approval.id);
        for (const { asked } of watchers) asked(event.approval);
      }
      if (event.type !== "approval_end" || !open.delete(event.id)) return;
      const why = answered.delete(event.id) ? null : event.text;
      for (const { over } of watchers) over(event.id, why);
    },
  };
}
