// How tools say in other languages than English that they did not do what they were asked.

/** Words of German, French, Spanish, Portuguese, Italian and Russian. */
const WORDS = [
  "(?:konnten?|wurden?|ist|sind) nicht|nicht (?:gefunden|vorhanden|geändert|möglich|erlaubt|eindeutig)|fehler (?:beim?|in)|fehlgeschlagen|verweigert|gescheitert|kein(?:e|en)? (?:Treffer|Änderung(?:en)?)",
  "introuvable|non trouvée?s?|échec|échoué|refusée?|aucune? (?:modification|correspondance|occurrence)",
  "no (?:se )?(?:encontr\\p{L}+|pudo|hay|existe)|falló|fallido|denegad[oa]|sin cambios",
  "não (?:foi )?(?:encontrad[oa]|possível|existe)|falhou|negad[oa]|sem alterações",
  "non (?:è stat[oa] )?(?:trovat[oa]|possibile|esiste)|fallit[oa]|negat[oa]|nessuna modifica",
  "не (?:найден\\p{L}*|удалось|изменен\\p{L}*|существует)|отказано|запрещено|без изменений",
];
/** Scripts without spaces, or with endings: Arabic, Chinese, Japanese, Korean. */
const PARTS =
  "لم يتم|غير موجود|تعذر|فشل|مرفوض|未找到|找不到|没有找到|失败|失敗|拒绝|拒絕|不存在|无法|無法|見つかりません|できません|拒否|찾을 수 없|실패|거부";

/** Matches where a line says so. */
export const FOREIGN_DENIAL = new RegExp(
  `(?<!\\p{L})(?:${WORDS.join("|")})(?!\\p{L})|${PARTS}`,
  "iu",
);
