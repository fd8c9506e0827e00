/** French server messages, by message code; the server sends the English text with each code. */
import type { Messages } from "../../api/messages.ts";
import type { Entry } from "../index.svelte.ts";
import { refusals } from "./refusals.ts";

export const sentences: Record<keyof Messages, Entry> = {
  ...refusals,

  thinking: "Réflexion…",
  summing_up: "Résumé des étapes antérieures…",
  asking_again: "Nouvel appel au modèle dans {seconds} s (essai {attempt} sur {attempts})…",
  running_tools: {
    one: "Exécution de {count} outil…",
    many: "Exécution de {count} d’outils…",
    other: "Exécution de {count} outils…",
  },
  planning: "Planification…",
  searching_in_turn: "Tour {turn} : recherche…",
  reading_in_turn: {
    one: "Tour {turn} : lecture de {count} source…",
    many: "Tour {turn} : lecture de {count} de sources…",
    other: "Tour {turn} : lecture de {count} sources…",
  },
  writing_report: "Rédaction du rapport…",
  looking_for: "Choix des requêtes de recherche…",
  searching_queries: {
    one: "{count} recherche en cours…",
    many: "{count} de recherches en cours…",
    other: "{count} recherches en cours…",
  },
  reading_pages: {
    one: "Lecture de {count} page…",
    many: "Lecture de {count} de pages…",
    other: "Lecture de {count} pages…",
  },
  layer: "Nouvelle réponse à la lumière de toutes les réponses, {layer} sur {layers}…",

  the_run: "L’exécution",
  the_agent: "L’agent",
  limit_steps: {
    one: "L’agent a effectué {count} étape, soit sa limite. Il s’arrête avec le résultat obtenu.",
    many: "L’agent a effectué {count} d’étapes, soit sa limite. Il s’arrête avec le résultat obtenu.",
    other: "L’agent a effectué {count} étapes, soit sa limite. Il s’arrête avec le résultat obtenu.",
  },
  limit_steps_near: "L’agent a effectué {count} étapes sur {limit}. Il s’arrête avec le résultat obtenu.",
  limit_all_steps: {
    one: "{who} a effectué {count} étape avec tous ses agents, pour une limite de {limit}. Arrêt avec le résultat obtenu.",
    many: "{who} a effectué {count} d’étapes avec tous ses agents, pour une limite de {limit}. Arrêt avec le résultat obtenu.",
    other:
      "{who} a effectué {count} étapes avec tous ses agents, pour une limite de {limit}. Arrêt avec le résultat obtenu.",
  },
  limit_tokens: {
    one: "{who} a utilisé {count} token, pour une limite de {limit}. Arrêt avec le résultat obtenu.",
    many: "{who} a utilisé {count} de tokens, pour une limite de {limit}. Arrêt avec le résultat obtenu.",
    other: "{who} a utilisé {count} tokens, pour une limite de {limit}. Arrêt avec le résultat obtenu.",
  },
  limit_cost: "{who} a coûté {cost}, pour une limite de {limit}. Arrêt avec le résultat obtenu.",
  limit_time: "{who} a travaillé pendant {seconds} secondes, soit sa limite. Arrêt avec le résultat obtenu.",
  limit_time_near:
    "{who} a travaillé {seconds} secondes sur les {limit} prévues. Arrêt avec le résultat obtenu.",
  limit_answer: {
    one: "La réponse a atteint la limite demandée de {count} token et a été tronquée.",
    many: "La réponse a atteint la limite demandée de {count} de tokens et a été tronquée.",
    other: "La réponse a atteint la limite demandée de {count} tokens et a été tronquée.",
  },
  hook_stopped: "Le hook « {hook} » a arrêté l’exécution : {reason}",
  hook_withheld: "Le hook « {hook} » a retenu la réponse : {reason}",

  limit_account: "{who} a atteint sa limite de {most} par {span}. Réinitialisation dans {wait}.",
  this_account: "Ce compte",
  group_of_account: "Un groupe de ce compte",
  this_key: "Cette clé",
  this_person: "Cette personne",
  requests: { one: "{count} requête", many: "{count} de requêtes", other: "{count} requêtes" },
  tokens: { one: "{count} token", many: "{count} de tokens", other: "{count} tokens" },
  minute: "minute",
  day: "jour",
  month: "mois",
  seconds: { one: "{count} seconde", many: "{count} de secondes", other: "{count} secondes" },
  minutes: { one: "{count} minute", many: "{count} de minutes", other: "{count} minutes" },
  hours: { one: "{count} heure", many: "{count} d’heures", other: "{count} heures" },
  days: { one: "{count} jour", many: "{count} de jours", other: "{count} jours" },

  model_not_yours:
    "Vous ne pouvez plus utiliser le modèle {name} : un administrateur a modifié les autorisations.",
  agent_not_yours:
    "Vous ne pouvez plus utiliser l’agent {name} : un administrateur a modifié les autorisations.",
  workspace_not_yours:
    "Vous ne pouvez plus utiliser le dossier de travail {name} : un administrateur a modifié les autorisations.",

  media_left_out:
    "Ce modèle n’accepte pas les images, sons ou vidéos de cette conversation ; il a donc été interrogé sans eux.",
  parameter_left_out: "Le modèle a été interrogé sans « {name} », qu’il n’accepte pas ici.",
  tools_simplified:
    "Le serveur de ce modèle n’accepte pas tous les schémas de ces outils ; le modèle en reçoit donc de plus simples : {tools}. Leurs arguments sont vérifiés comme avant.",
  tools_left_out: "Le serveur de ce modèle rejette ces outils, qui sont donc omis : {tools}.",
  tools_by_search:
    "Il y a plus d’outils que n’en accepte le serveur de ce modèle : {listed} sur {all} sont listés, les autres se trouvent par recherche.",
  stop_sequences_left_out:
    "Le modèle a été interrogé sans certaines des séquences d’arrêt, qu’il n’accepte pas.",
  arguments_repaired: "Le modèle a écrit des arguments non valides pour {tool}, qui ont été corrigés.",
  tool_name_repaired: "Le modèle a appelé « {written} » ; il s’agissait de l’outil {tool}.",
  empty_answer: "Le modèle a donné une réponse vide.",
  made_picture_too_large:
    "Une image du modèle est trop volumineuse pour être conservée : {size} octets, pour un maximum de {limit}.",
  made_picture_unreadable: "Une image du modèle est illisible et n’a donc pas été affichée.",
  answer_cut: "Le modèle a atteint sa limite de tokens en sortie ; la réponse est peut-être tronquée.",
  answer_filtered: "Le filtre de contenu du serveur de modèles a tronqué la réponse.",
  answer_without_end: "Le serveur de modèles a mis fin à sa réponse sans indiquer qu’elle était complète.",
  answer_not_in_form: "La réponse n’est pas au format demandé et va être rédigée à nouveau : {fault}.",
  answer_never_in_form: "Le modèle n’a pas répondu au format demandé : {fault}.",
  other_model: "{before} n’a pas pu être utilisé ; {after} le remplace. {why}",

  title_missing: "il n’y a pas de titre",
  title_of_lines: "le titre comporte plusieurs lignes",
  title_without_words: "le titre ne contient aucun mot, ou beaucoup trop",
  title_in_other_language: "le titre n’est pas dans la langue du chat",
  tags_missing: "il n’y a pas de tags",
  follow_ups_missing: "il n’y a pas de follow_ups",
  json_missing: "il n’y a pas d’objet JSON avec {field}",
  fault_and_more: "{fault} ; {more}",

  no_summary: "Les étapes antérieures n’ont pas pu être résumées et sont donc omises : {why}",
  parts_too_long: "Même découpées, elles sont trop longues pour le serveur de modèles.",

  no_answer_of: "{name} n’a pas répondu. {why}",
  nobody_answered:
    "Aucun modèle n’a répondu dans cette couche ; les réponses de la couche précédente sont donc utilisées.",

  no_report: "Le modèle n’a pas rédigé de rapport. Voici les notes.",
  notes_so_far: "La recherche s’est arrêtée avant le rapport. Voici les notes prises jusqu’ici.",
  cites_nothing: "Le rapport ne cite aucune source ; rien n’indique donc d’où viennent ses informations.",
  quotes_found:
    "{verified} notes citées sur {count} comportent une citation retrouvée mot pour mot dans la source.",
  figures_unsupported:
    "Le rapport contient des chiffres ou des citations sans référence qui ne figurent dans aucune citation des sources : {list}.",
  nothing_to_research_in:
    "Aucune source où chercher : aucune collection de documents à laquelle vous avez accès et aucune recherche web. Créez d’abord une collection ou contactez un administrateur.",
  no_web_here: "La recherche web n’est pas disponible ici ; la réponse est donc donnée sans elle.",

  interrupted:
    "Le serveur a redémarré pendant cette exécution. Ce qu’elle a écrit est conservé ; envoyez un nouveau message pour continuer.",
  given_up:
    "Le serveur s’est arrêté à plusieurs reprises pendant cette exécution, qui a donc pris fin. Ce qu’elle a écrit est conservé ; envoyez un nouveau message pour continuer.",
  model_gone: "Le serveur a redémarré pendant cette exécution, et le modèle {name} n’est plus disponible.",
  fault_of_server: "L’exécution a pris fin à cause d’une erreur du serveur. Ce qu’elle a écrit est conservé.",
  not_stored: "Le journal n’a pas pu être enregistré ; l’exécution a donc été arrêtée.",

  mcp_server_away:
    "Le serveur MCP « {name} » est injoignable pour le moment ; cette exécution continue donc sans ses outils.",
  mcp_sign_in_ended:
    "Votre connexion au serveur MCP « {name} » a pris fin ; cette exécution continue donc sans ses outils. Reconnectez-vous dans Paramètres → Autorisations des outils et connexions.",
  mcp_server_full: "Le serveur MCP « {name} » a trop de connexions pour le moment.",
  mcp_server_fails: "Connexion au serveur MCP « {name} » impossible.",

  saying: "{words} Message reçu : {quote}",
  other_server: "{why} {name} est utilisé à la place.",
  other_key: "{why} Une autre clé de {name} est utilisée.",
  model_servers_unreachable: "Les serveurs de modèles sont injoignables : {why}.",
  model_broke_off:
    "Le serveur de modèles a fermé la connexion au milieu de la réponse. Réessayez ; si cela se reproduit, consultez le journal de ce serveur.",
  model_silent:
    "Le serveur de modèles n’a rien envoyé pendant {waited}. Il charge peut-être encore le modèle ou est surchargé ; réessayez.",
  model_went_silent:
    "Le serveur de modèles s’est arrêté au milieu de la réponse : rien n’est arrivé pendant {waited}. Réessayez.",
  short_milliseconds: "{count} ms",
  short_seconds: "{count} s",
  certificate_not_trusted: "Le certificat de {server} n’est pas approuvé : {why}",
  server_name_unknown: "Le nom d’hôte de {server} n’a pas pu être résolu. Vérifiez l’adresse.",
  nothing_answers:
    "Connexion à {server} impossible. Le serveur de modèles est-il démarré et l’adresse est-elle correcte ?",
  closed_before_answer:
    "Le serveur de modèles à l’adresse {server} a fermé la connexion avant de répondre. Réessayez.",
  no_such_model: "Le serveur de modèles n’a pas de modèle « {model} ».",
  no_api:
    "Aucune API compatible OpenAI à l’adresse {server}. Vérifiez l’adresse ; elle se termine souvent par /v1.",
  model_gave_up: "Le serveur de modèles a mis trop de temps et a abandonné (408). Réessayez.",
  context_full: "La conversation est trop longue pour le modèle. Message du serveur de modèles : {quote}",
  model_refused: "Le serveur de modèles a refusé la requête ({status}).",
  model_failed: "Le serveur de modèles a rencontré une erreur ({status}). Réessayez plus tard.",
  key_wanted: "Le serveur de modèles exige une clé. Saisissez-en une pour cette connexion.",
  key_not_allowed: "Le serveur de modèles n’autorise pas cette clé à utiliser le modèle.",
  key_refused: "Le serveur de modèles a refusé la clé. Vérifiez la clé de cette connexion.",
  no_credit: "Le compte auprès du serveur de modèles n’a plus de crédit.",
  slow_down: "Le serveur de modèles demande de ralentir. Patientez un peu et réessayez.",
  sends_on: "{server} redirige vers {to}. Saisissez plutôt l’adresse de ce serveur.",
  answers_redirect: "{server} n’est pas un serveur compatible OpenAI : il a répondu par une redirection.",
  answers_web_page:
    "{server} n’est pas un serveur compatible OpenAI : il a répondu par une page web. Vérifiez l’adresse ; elle se termine souvent par /v1.",
  no_model_list:
    "{server} n’est pas un serveur compatible OpenAI : sa liste de modèles est illisible. Vérifiez l’adresse ; elle se termine souvent par /v1.",
  no_answer_within: "{server} n’a pas répondu dans un délai de {seconds} s.",
  no_model_server: "« {model} » n’a pas de serveur de modèles.",
  did_you_mean: "{words} Vouliez-vous dire {names} ?",
  no_embeddings:
    "{model} ne peut pas créer d’embeddings : sa connexion est de type {kind}. Indiquez un modèle d’embedding.",
  useless_answer: "Réponse de {model} inutilisable : {why}.",
  answer_over: "La réponse de {model} dépasse {limit} Mo.",
  not_finished_within: "Le modèle n’a pas terminé sa réponse dans un délai de {seconds} s.",
  model_reported: "Le serveur de modèles a signalé une erreur : {quote}",
  not_the_protocol:
    "Le serveur de modèles à l’adresse {server} a envoyé quelque chose qui n’est pas le protocole OpenAI : {quote}",
  conversation_too_long: "La conversation de cette exécution dépasse {limit} Mo.",
  answer_too_long:
    "Le serveur de modèles a envoyé plus de {limit} Mo en une seule réponse. Réessayez ou utilisez un autre modèle.",
  event_too_long:
    "Le serveur de modèles a envoyé un seul événement de plus de {limit} Mo, ce qui n’est pas conforme au protocole.",
  gave_up_in_answer: "Le serveur de modèles a abandonné au milieu de la réponse. Réessayez.",
  answers_texts: "Le serveur de modèles prend en charge le chat, mais pas la complétion de texte.",
  tried_just_now: "Une nouvelle tentative auprès du serveur de modèles est en cours.",
  left_alone: "{name} a échoué plusieurs fois et reste en pause pendant {seconds} s.",
  because: "{words} {why}",
  vectors_differ:
    "Le modèle a renvoyé des vecteurs de longueurs différentes, qui ne peuvent pas être comparés.",
  vector_without_direction: "Le modèle a renvoyé un vecteur sans direction, qui ne permet de rien trouver.",
  built_in_slow: "Le modèle intégré a mis plus de {seconds} s.",
  built_in_missing:
    "Le modèle intégré n’est pas installé : {file} est absent. Un administrateur peut l’installer comme décrit à la page du manuel sur les documents.",
  built_in_broken: "Le modèle intégré n’a pas pu être chargé. Consultez le journal du serveur.",
  not_in_form_of: "{name} n’a pas répondu au format demandé.",
  no_transcription:
    "{model} ne peut pas transcrire d’enregistrements : sa connexion est de type {kind}. Indiquez un modèle de transcription.",
  reader_unreachable: "Le lecteur de documents externe est injoignable.",
  reader_slow: "Le lecteur de documents externe a mis plus de {seconds} s.",
  reader_busy: "Le lecteur de documents externe est surchargé.",
  reader_refused: "Le lecteur de documents externe a refusé le fichier (HTTP {status}).",
  reader_failed: "Le lecteur de documents externe n’a pas pu lire le fichier.",
  reader_answer_over: "La réponse du lecteur de documents externe dépasse {limit} Mo.",
  reader_other:
    "Ce qui répond à l’adresse du lecteur de documents externe est autre chose. Vérifiez knowledge.reader_url et knowledge.reader_kind.",
  recording_too_large: "L’enregistrement est trop volumineux. Au plus {limit} Mo sont transcrits.",
  said_nothing: "{name} n’a pas décrit l’image.",

  only_words: "Seuls les mots-clés ont été comparés, pas le sens : {why}",
  not_embedded_yet:
    "Dans certaines collections, seuls les mots-clés ont été comparés : les embeddings de leurs documents ne sont pas encore prêts.",
  not_ranked: "Les meilleurs résultats n’ont pas été reclassés : {why}",

  no_address:
    "L’adresse n’est pas utilisable : elle doit commencer par https:// et ne pas contenir de nom d’utilisateur.",
  address_not_allowed:
    "L’adresse mène à cette machine, à un réseau privé ou à un port non destiné au Web. Seul un administrateur peut l’autoriser (outbound.allow).",
  unreachable: "Le serveur est injoignable.",
  slow: "Le serveur ne répond pas à temps.",
  too_many_redirects: "Il y a trop de redirections.",
  answer_too_large: "La réponse est trop volumineuse.",
  answer_compressed: "La réponse est compressée, alors que cela n’a pas été demandé.",
  answer_cut_off: "La connexion a été perdue au milieu de la réponse.",
  robots_refuse:
    "Le robots.txt du site demande aux programmes de ne pas lire cette page ; elle n’a donc pas été lue. Utilisez une autre source.",
  no_page: "Page introuvable (HTTP {status}).",
  page_closed: "Le site ne permet pas de lire cette page (HTTP {status}). Utilisez une autre source.",
  site_busy: "Le site demande d’attendre (HTTP 429). Réessayez plus tard ou utilisez une autre source.",
  site_fault: "Le serveur du site a rencontré une erreur (HTTP {status}). Réessayez plus tard.",
  without_page: "Le site a répondu sans page (HTTP {status}).",
  not_text: "Le contenu de cette adresse ({what}) n’est pas du texte et ne peut pas être lu.",
  a_picture: "une image",
  sound_or_film: "du son ou de la vidéo",
  no_image: "Le site a répondu sans image (HTTP {status}).",
  not_image: "Ce n’est pas une image PNG, JPEG, GIF ou WebP.",
  page_unreadable: "La page a été chargée mais est illisible. {why}",
  page_needs_scripts: "La page n’affiche rien avant l’exécution de ses scripts, et {why}",
  scripts_slow: "ils ne se sont pas terminés à temps.",
  scripts_too_large: "ils ont demandé plus de mémoire ou d’espace disque que n’en a droit une page.",
  browser_not_started: "le navigateur de ce serveur n’a pas pu démarrer.",
  browser_failed: "le navigateur de ce serveur a rencontré une erreur.",
  browser_not_here: "le navigateur ne peut pas démarrer sur ce système.",
  crawl4ai_failed: "Crawl4AI n’a pas pu la charger : {why}.",
  no_web_search:
    "La recherche web n’est pas configurée sur ce serveur. Un administrateur peut la configurer (web.search).",
  bad_web_query: "Une recherche doit comporter de 1 à {limit} caractères.",
  web_search_failed: "La recherche n’a pas fonctionné : {why}",
  own_fault: "Impossible à cause d’une erreur interne du serveur.",
  collection_full: {
    one: "Une collection peut contenir au maximum {count} document.",
    many: "Une collection peut contenir au maximum {count} de documents.",
    other: "Une collection peut contenir au maximum {count} documents.",
  },
  no_room_for_documents: "Il n’y a plus de place pour vos documents. Supprimez-en d’abord.",
  key_unreadable:
    "Cette clé ne peut pas être lue avec le fichier de clé de ce serveur. Saisissez-la à nouveau.",
};
