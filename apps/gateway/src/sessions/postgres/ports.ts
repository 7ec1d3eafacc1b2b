// What the store in PostgreSQL gets from the packages beside it.
import { createDeliveryLedger, type DeliveryLedger } from "@clew/engine-core";
import type { StorePorts } from "@clew/store-postgres";
import { planRewrite } from "../rewrite.ts";

export const POSTGRES_PORTS: StorePorts<DeliveryLedger> = {
  createLedger: createDeliveryLedger,
  planRewrite,
};
