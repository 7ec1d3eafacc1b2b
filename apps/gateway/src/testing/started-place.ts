// Starts a gateway in a process of its own, which ends with its test.
import { onTestFinished } from "vitest";
import { type GatewayPlan, type Place, startPlace, stopPlace } from "./killed-gateways.ts";

export async function startedPlace(plan: GatewayPlan): Promise<Place> {
  const place = await startPlace(plan);
  onTestFinished(() => stopPlace(place));
  return place;
}
