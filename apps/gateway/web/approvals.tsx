// Shows what turns wait for, with the buttons that answer.
import {
  type Approval,
  type ApprovalAnswer,
  ASK_ANSWERS,
  describeAsker,
  describeSession,
} from "../src/approvals/approval.ts";
import { visible, visibleJson } from "../src/text/visible.ts";
import type { PageState } from "./page-state.ts";

export function Approvals({
  state: { approvals, mayAnswer },
  onAnswer,
}: {
  state: PageState;
  onAnswer(id: string, answer: ApprovalAnswer): void;
}) {
  if (approvals.length === 0) return null;
  return (
    <section class="approvals" role="alert" aria-label="Waiting for your answer">
      {approvals.map((approval) => (
        <Waiting key={approval.id} {...{ approval, mayAnswer, onAnswer }} />
      ))}
    </section>
  );
}

const LABELS: Record<ApprovalAnswer, string> = {
  once: "Allow once",
  session: "Allow in this session",
  no: "Do not allow",
};

function Waiting({
  approval,
  mayAnswer,
  onAnswer,
}: {
  approval: Approval;
  mayAnswer: boolean;
  onAnswer(id: string, answer: ApprovalAnswer): void;
}) {
  const { id, asker, name, arguments: given, grants, expiresAt } = approval;
  const titles = { once: "This call only", session: `Allows ${grants}`, no: "The model is told" };
  return (
    <article class="approval">
      <p>
        <strong>{visible(name)}</strong> waits for your answer until{" "}
        {new Date(expiresAt).toLocaleTimeString()}: {visible(describeAsker(asker))} asks in session{" "}
        {visible(describeSession(approval))}.
      </p>
      <pre>{visibleJson(given, 2)}</pre>
      {mayAnswer ? (
        <p>
          {ASK_ANSWERS.map((answer) => (
            <button
              key={answer}
              type="button"
              title={visible(titles[answer])}
              onClick={() => onAnswer(id, answer)}
            >
              {LABELS[answer]}
            </button>
          ))}
        </p>
      ) : (
        <p>
          To answer here, open the link that <code>clew approvals link</code> prints, or answer with{" "}
          <code>clew approvals answer {id} once</code>.
        </p>
      )}
    </article>
  );
}
