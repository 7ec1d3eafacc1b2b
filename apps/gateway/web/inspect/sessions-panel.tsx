// The sessions that this one started or was started by, as a tree with what each came to.
import type { SessionRow } from "../api.ts";
import { familyOf, planFamily } from "./family.ts";
import type { InspectApi } from "./inspect-api.ts";
import { useRead } from "./use-read.ts";

export interface SessionsPanelProps {
  api: Pick<InspectApi, "usage">;
  sessions: readonly SessionRow[];
  session: string;
  onOpen(key: string): void;
}

export function SessionsPanel({ api, sessions, session, onOpen }: SessionsPanelProps) {
  const family = familyOf(sessions, session);
  const first = family.length < 2 ? undefined : family[0];
  // Again when one of them began, ended or was told something.
  const stand = family.map(({ key, busy, updatedAt }) => `${key} ${busy} ${updatedAt}`).join();
  const { value, problem } = useRead(first === undefined ? null : stand, () =>
    api.usage(first!.key),
  );
  if (first === undefined) return <p class="soft">This session started no other one.</p>;
  return (
    <>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <table class="tree">
        <caption class="hidden">Sessions of this family</caption>
        <thead>
          <tr>
            <th scope="col">session</th>
            <th scope="col">asked to</th>
            <th scope="col">state</th>
            <th scope="col">model calls</th>
            <th scope="col">tokens in</th>
            <th scope="col">out</th>
            <th scope="col">cost</th>
          </tr>
        </thead>
        <tbody>
          {planFamily(family, session, value ?? null).map((row) => (
            <tr key={row.key} style={{ "--depth": row.depth }}>
              <th scope="row">
                <button
                  type="button"
                  aria-current={row.isShown ? "page" : undefined}
                  title={row.isShown ? undefined : "Show its calls"}
                  onClick={() => onOpen(row.key)}
                >
                  {row.name}
                </button>
              </th>
              <td class="task" title={row.task ?? undefined} dir="auto">
                {row.task ?? <span class="soft">(begun by a person)</span>}
              </td>
              <td>{row.state}</td>
              <td class="figure" data-of=" calls">
                {row.calls}
              </td>
              <td class="figure" data-of=" in">
                {row.sent}
              </td>
              <td class="figure" data-of=" out">
                {row.output}
              </td>
              <td class="figure">{row.cost}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
