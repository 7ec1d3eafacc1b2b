// Reads what Google's errors say beside their words.
import { isRecord } from "@clew/plugin-sdk/host";

/** What of a `google.rpc.Status` decides: https://cloud.google.com/apis/design/errors */
export interface GoogleStatus {
  /** The most exact name of what went wrong, e.g. "API_KEY_INVALID"; blank: it has none. */
  reason: string;
  /** How long it asks to wait. Absent: it did not say. */
  retryAfterMs?: number;
  /** True: the account may do none of this, ever. */
  hasNoQuota: boolean;
}

/** Of any error; one that is not Google's says nothing here. */
export function readGoogleStatus(error: unknown): GoogleStatus {
  const { status, details, message } = isRecord(error) ? error : {};
  const list = Array.isArray(details) ? details.filter(isRecord) : [];
  const of = (type: string) =>
    list.filter(({ "@type": name }) => typeof name === "string" && name.endsWith(`.${type}`));
  const reasons = [...of("ErrorInfo").map(({ reason }) => reason), status];
  const delays = of("RetryInfo").map(({ retryDelay }) => milliseconds(retryDelay));
  const retryAfterMs = delays.find((delay) => delay !== undefined);
  return {
    reason: reasons.find((reason) => typeof reason === "string") ?? "",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    hasNoQuota: status === "RESOURCE_EXHAUSTED" && /\blimit: 0\b/.test(String(message)),
  };
}

/** A duration is seconds with an "s": "36.5s". */
function milliseconds(duration: unknown): number | undefined {
  const [, seconds] = (typeof duration === "string" && /^(\d+(?:\.\d+)?)s$/.exec(duration)) || [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}
