/** French texts for the embedding model settings. */
import type { embedding as en } from "../en/embedding.ts";
import type { Entry } from "../index.svelte.ts";

export const embedding: Record<keyof typeof en, Entry> = {
  "embedding.title": "Recherche sémantique",
  "embedding.intro":
    "Avec un modèle d’embedding, les passages sont trouvés d’après leur sens, et pas seulement par mots-clés.",
  "embedding.inForce": "Modèle actif",
  "embedding.none": "Désactivée (mots-clés seulement)",
  "embedding.builtIn": "Intégré (anglais)",
  "embedding.from.page": "choisi ici",
  "embedding.from.configuration": "issu de la configuration",
  "embedding.dimensions": "Dimensions",
  "embedding.notYet": "connues après le premier document",
  "embedding.progress": "Documents",
  "embedding.done": "{whole} sur {documents} traités ({percent} %)",
  "embedding.failed": { one: "{count} en échec", many: "{count} en échec", other: "{count} en échec" },
  "embedding.noDocuments": "Aucun document pour le moment",
  "embedding.earlier": "D’ici là, {model} est utilisé, avec {count} documents.",
  "embedding.problem": "En pause. {message}",
  "embedding.choose": "Modèle",
  "embedding.asConfigured": "Selon la configuration ({model})",
  "embedding.likely": "Modèles d’embedding probables",
  "embedding.others": "Autres modèles",
  "embedding.noModels":
    "Connectez un serveur de modèles proposant un modèle d’embedding pour le choisir ici.",
  "embedding.queryPrefix": "Préfixe des requêtes",
  "embedding.passagePrefix": "Préfixe des passages",
  "embedding.prefixHint":
    "Certains modèles en exigent un ; consultez leur documentation. Les espaces comptent.",
  "recognition.noScript": "Installez aussi les données « osd » pour détecter l’écriture d’une page.",
  "recognition.install": "Installez Tesseract avec ses langues, par exemple :",
  "recognition.missing": "Indisponible. {cause}",
  "recognition.off": "Désactivée",
  "recognition.languages": "Langues",
  "recognition.program": "Programme",
  "recognition.intro": "Tesseract lit les pages numérisées et les images sur ce serveur.",
  "recognition.title": "Reconnaissance de texte",
  "embedding.try": "Tester",
  "embedding.trying": "Test en cours…",
  "embedding.tried": "Une phrase a été traitée en {time} et donne un vecteur à {dimensions} dimensions.",
  "embedding.anew":
    "Les embeddings de tous les documents seront recalculés en arrière-plan ; l’utilisation est imputée au compte de leurs propriétaires. D’ici là, les embeddings actuels restent utilisés.",
  "embedding.turnsOff":
    "La recherche sémantique sera désactivée. Ses embeddings seront supprimés au bout d’une heure.",
  "audit.area.embedding": "Modèle d’embedding",
  "audit.embedding.change": "Modèle d’embedding modifié",
  "audit.embedding.try": "Modèle d’embedding testé",
  "reader.title": "Lecteur de documents",
  "reader.intro":
    "Un autre programme, Apache Tika ou Docling, peut lire les fichiers que ce serveur ne lit pas, comme les anciens fichiers Office.",
  "reader.off": "Aucun lecteur de documents n’est défini.",
  "documents.models": "Modèles pour les documents",
  "documents.modelsIntro":
    "Ils traitent les documents en arrière-plan et lors des recherches. Leurs tokens comptent dans l’utilisation.",
};
