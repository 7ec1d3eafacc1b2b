// How the engine is, what of it is set aside, and another chance for it.
import { useRef, useState } from "preact/hooks";
import { Preformatted } from "../preformatted.tsx";
import { ActionPanel } from "./action-panel.tsx";
import { Pending } from "./detail-parts.tsx";
import type { EngineStatus, InspectApi } from "./inspect-api.ts";
import { useRead } from "./use-read.ts";

export interface EnginePanelProps {
  api: InspectApi;
  session: string;
  /** Changes when it should be asked again. */
  version: string;
  onDone(): void;
}

export function EnginePanel({ api, session, version, onDone }: EnginePanelProps) {
  // Whoever tried again is told how it is now, and what came of it stays.
  const [retries, setRetries] = useState(0);
  const read = useRead(`${session} ${version} ${retries}`, () => api.engine(session));
  const known = useRef<EngineStatus | undefined>(undefined);
  known.current = read.value ?? known.current;
  const value = known.current;
  if (value === undefined || read.problem !== null) return <Pending problem={read.problem} />;
  const isAside = (value.session?.setAside ?? null) !== null;
  const parked = value.session?.deliveries.blocked.length ?? 0;
  return (
    <>
      <Preformatted label="Engine">{value.text}</Preformatted>
      {(isAside || parked > 0 || value.quarantined.length > 0 || retries > 0) && (
        <ActionPanel
          label="Engine"
          hint="Gives engines that were set aside another chance, and offers turns again that they refused."
          buttons={[
            {
              ...{ label: "Try again", title: "/engine retry" },
              run: async () => ({ ok: true, text: await api.retryEngine(session) }),
            },
          ]}
          onDone={() => {
            setRetries((count) => count + 1);
            onDone();
          }}
        />
      )}
    </>
  );
}
