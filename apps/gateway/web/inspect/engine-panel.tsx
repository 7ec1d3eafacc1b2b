// How the engine is, what of it is set aside, and another chance for it.
import { Preformatted } from "../preformatted.tsx";
import { ActionPanel } from "./action-panel.tsx";
import { Pending } from "./detail-parts.tsx";
import type { InspectApi } from "./inspect-api.ts";
import { useRead } from "./use-read.ts";

export interface EnginePanelProps {
  api: InspectApi;
  session: string;
  /** Changes when it should be asked again. */
  version: string;
  onDone(): void;
}

export function EnginePanel({ api, session, version, onDone }: EnginePanelProps) {
  const { value, problem } = useRead(`${session} ${version}`, () => api.engine(session));
  if (value === undefined) return <Pending problem={problem} />;
  const isAside = (value.session?.setAside ?? null) !== null;
  const parked = value.session?.deliveries.blocked.length ?? 0;
  return (
    <>
      <Preformatted label="Engine">{value.text}</Preformatted>
      {(isAside || parked > 0 || value.quarantined.length > 0) && (
        <ActionPanel
          label="Engine"
          hint="Gives engines that were set aside another chance, and offers turns again that they refused."
          buttons={[
            {
              ...{ label: "Try again", title: "/engine retry" },
              run: async () => ({ ok: true, text: await api.retryEngine(session) }),
            },
          ]}
          onDone={onDone}
        />
      )}
    </>
  );
}
