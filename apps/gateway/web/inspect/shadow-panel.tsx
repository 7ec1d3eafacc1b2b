// How a second engine compares that is handed every turn and never answers.
import { useEffect, useState } from "preact/hooks";
import { formatNumberOf } from "../../src/conversation/format.ts";
import type { ShadowView } from "../../src/gateway/session-views.ts";
import type { CallRow } from "../../src/inspect/shapes/calls.ts";
import type { InspectApi } from "./inspect-api.ts";
import { describeShadowed, planShadow } from "./shadow.ts";

export interface ShadowPanelProps {
  api: InspectApi;
  session: string;
  /** The session's calls, and the one shown. */
  rows: readonly CallRow[];
  row: CallRow;
  /** As it was read last; null = not yet, or there is none. */
  shadow: ShadowView | null;
  onShadow(shadow: ShadowView | null): void;
}

/** A shadow plays a turn once its reply is stored, which nobody waits for. */
const AGAIN_MS = 3000;
const SETTING = "clew config set agents.defaults.shadowEngine lossless";

export function ShadowPanel({ api, session, rows, row, shadow, onShadow }: ShadowPanelProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const newest = rows.at(-1)?.id;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isWanted = true;
    const read = async () => {
      const found = await api.shadow(session);
      if (!isWanted) return;
      onShadow(found);
      setProblem(null);
      if (found?.calls.at(-1)?.made.id !== newest)
        timer = setTimeout(() => void read().catch(fail), AGAIN_MS);
    };
    const fail = (error: unknown) =>
      setProblem(error instanceof Error ? error.message : String(error));
    read().catch(fail);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [api, session, newest]);
  if (problem !== null) return <p data-bad>{problem}</p>;
  if (shadow === null)
    return (
      <p class="soft">
        No second engine runs along in this session. One that does is handed every turn once its
        reply is stored, never touches the reply, and is compared here with the one that answers:{" "}
        <code>{SETTING}</code>
      </p>
    );
  const { summary } = shadow;
  const { last, count } = summary.troubles;
  return (
    <div class="why">
      <ul>
        <li>
          {formatNumberOf(summary.calls, "call")} in {formatNumberOf(summary.turns, "turn")} were
          compared; the line over the calls is what {summary.engine} would have sent. Its tokens are
          estimated, and so are those beside them.
        </li>
        <li>
          {describeShadowed(shadow, row.id) ?? `Call ${row.id} was not compared, or not yet.`}
        </li>
        {last !== null && (
          <li data-bad>
            {formatNumberOf(count, "turn")} went wrong, the last one: {last.text}
          </li>
        )}
      </ul>
      <table class="ledger">
        <caption class="hidden">Beside the engine that answers</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">{row.engine}</th>
            <th scope="col">{summary.engine}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {planShadow(summary).map(({ label, made, shadow: other, difference }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{made}</td>
              <td>{other}</td>
              <td>{difference}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
