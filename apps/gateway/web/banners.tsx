// Warns that the gateway is away or that an engine other than the configured one answers.
import { type Alarm, describeAlarm, describeSafeMode, isToldBy } from "./describe-context.ts";
import type { PageState } from "./page-state.ts";

export function Banners({ state, onDismiss }: { state: PageState; onDismiss(): void }) {
  const { connection, notice, context, health, key } = state;
  const alarm = describeAlarm(context, health?.engine.quarantined ?? [], key);
  // A gateway of an earlier version does not tell.
  const safeMode = health?.safeMode ?? [];
  return (
    <div class="banners">
      {connection === "away" && (
        <p class="banner away" role="alert">
          <strong>The gateway is not answering.</strong> Nothing stored is lost. This page tries
          again every second; if you stopped the gateway, start it with <code>npm start</code>.
        </p>
      )}
      {connection === "ok" &&
        (health?.notReady ?? []).map((reason) => (
          <p key={reason} class="banner away" role="alert">
            <strong>{reason}</strong> No message can be taken until that is over.
          </p>
        ))}
      {safeMode.map((each) => (
        <AlarmBanner key={each.plugin} alarm={describeSafeMode(each)} />
      ))}
      {alarm !== null && !isToldBy(safeMode, alarm) && <AlarmBanner alarm={alarm} />}
      {notice !== null && (
        <p class="banner news" role="status">
          {notice}{" "}
          <button type="button" onClick={onDismiss}>
            OK
          </button>
        </p>
      )}
    </div>
  );
}

function AlarmBanner({ alarm: { title, reason, next } }: { alarm: Alarm }) {
  return (
    <div class="banner alarm" role="alert">
      <span class="alarm-title">{title}</span>
      <span>{reason}</span>
      <span>{next}</span>
    </div>
  );
}
