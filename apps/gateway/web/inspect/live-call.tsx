// What is being sent to a model at this moment, before it has answered.

import { formatCount, formatNumberOf } from "../../src/conversation/format.ts";
import type { LiveCall } from "../../src/events/shapes.ts";
import { BANDS } from "./sources.ts";

export interface LiveCallProps {
  call: LiveCall;
  isAnswered: boolean;
  /** Opens it in the inspector. Absent: it is not opened from here. */
  onOpen?: (id: string) => void;
}

export function LiveCallView({ call, isAnswered, onOpen }: LiveCallProps) {
  const { id, model, tokens, number, messages, budget } = call;
  const parts = BANDS.tokens.flatMap(({ key, label, color }) => {
    const count = tokens[key as keyof typeof tokens];
    return count > 0 ? [{ label, color, count }] : [];
  });
  const fresh = messages.items === null ? null : messages.items.length - messages.kept;
  return (
    <section class="live-call" aria-label="Being sent now">
      <p>
        <strong>{isAnswered ? "Being answered" : "Being sent"}</strong> {isAnswered ? "by" : "to"}{" "}
        {model}: {formatCount(tokens.total)} of {formatCount(budget.promptBudget)} tokens,{" "}
        {id === undefined || onOpen === undefined ? (
          id === undefined ? (
            `call ${number} of the turn`
          ) : (
            `call ${id}`
          )
        ) : (
          <button type="button" class="link" onClick={() => onOpen(id)}>
            call {id}
          </button>
        )}
        {fresh === null || messages.kept === 0
          ? ""
          : `; ${formatNumberOf(messages.kept, "message")} as in the call before, ${formatCount(fresh)} new`}
        .
      </p>
      <div class="bar sent" aria-hidden="true">
        {parts.map(({ label, color, count }) => (
          <span key={label} style={{ flexGrow: count, background: `var(${color})` }} />
        ))}
      </div>
      <ul>
        {parts.map(({ label, color, count }) => (
          <li key={label}>
            <span class="swatch" style={{ background: `var(${color})` }} aria-hidden="true" />{" "}
            {label} <b>{formatCount(count)}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}
