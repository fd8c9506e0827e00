/** Spanish texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "Proveedor de inicio de sesión",
  "signInProvider.intro":
    "Permite iniciar sesión con una cuenta existente mediante OpenID Connect. Las contraseñas siguen funcionando.",
  "signInProvider.setUp": "Configurar",
  "signInProvider.setUpTitle": "Configurar un proveedor de inicio de sesión",
  "signInProvider.editTitle": "Editar el proveedor de inicio de sesión",
  "signInProvider.clientIdOf": "ID de cliente: {id}",
  "signInProvider.preset": "Proveedor",
  "signInProvider.other": "Otro",
  "signInProvider.hint.entra":
    "Entra ID omite los grupos del token a partir de 201. Si alguien tiene tantos, indica la URL de grupos en «Avanzado».",
  "signInProvider.hint.google": "Google no envía grupos.",
  "signInProvider.hint.keycloak": "Keycloak envía todos los grupos de una persona.",
  "signInProvider.hint.okta":
    "En Okta falla el inicio de sesión si más de 100 grupos coinciden con su claim de grupos: fíltralos allí.",
  "signInProvider.hint.authentik":
    "authentik envía todos los grupos de una persona. La barra final forma parte del emisor.",
  "signInProvider.redirect": "Dirección de redirección",
  "signInProvider.redirectHint": "Regístrala en el proveedor, en un cliente web confidencial.",
  "signInProvider.issuer": "Emisor",
  "signInProvider.issuerHint": "Exactamente como lo escribe el proveedor.",
  "signInProvider.placeholder": "Sustituye {text} por el tuyo.",
  "signInProvider.clientId": "ID de cliente",
  "signInProvider.clientSecret": "Secreto de cliente",
  "signInProvider.secretHint": "Déjalo vacío para un cliente público.",
  "signInProvider.secretMoved": "El secreto guardado no se envía a otro host. Escribe el de este proveedor.",
  "signInProvider.removeSecret": "Quitar el secreto de cliente guardado",
  "signInProvider.name": "Nombre en el botón",
  "signInProvider.advanced": "Avanzado",
  "signInProvider.scopes": "Ámbitos",
  "signInProvider.scopesHint":
    "Separados por espacios. Algunos proveedores solo envían grupos con el ámbito groups.",
  "signInProvider.groupsClaim": "Claim de grupos",
  "signInProvider.groupsClaimHint": "Un punto lleva a un claim anidado: realm_access.roles.",
  "signInProvider.groupsUrl": "URL de grupos",
  "signInProvider.groupsUrlHint":
    "De aquí se obtienen los grupos que faltan en el token. Entra ID necesita además los ámbitos User.Read y GroupMember.Read.All.",
  "signInProvider.adminGroups": "Grupos de administradores",
  "signInProvider.adminGroupsHint":
    "Uno por línea. En cada inicio de sesión, sus miembros pasan a ser administradores y los demás, usuarios normales. Déjalo vacío para elegir aquí a los administradores.",
  "signInProvider.allowedGroups": "Grupos permitidos",
  "signInProvider.allowedGroupsHint":
    "Uno por línea. Solo pueden iniciar sesión sus miembros y los de los grupos de administradores. Déjalo vacío para admitir a todas las personas del proveedor.",
  "signInProvider.createAccounts": "Crear cuentas en el primer inicio de sesión",
  "signInProvider.createAccountsHint": "Si no, los administradores añaden antes a las personas.",
  "signInProvider.linkByEmail": "Vincular cuentas existentes por correo",
  "signInProvider.linkByEmailHint":
    "Solo con proveedores que verifican las direcciones: quien consiga allí una dirección obtiene la cuenta.",
  "signInProvider.newIssuer":
    "A cada persona se la reconoce por su ID en este emisor. Con otro emisor contará como nueva, salvo que las cuentas se vinculen por correo.",
  "signInProvider.works": "Funciona. Se inicia sesión en {host}.",
  "signInProvider.turnOff": "Desactivar",
  "signInProvider.turnOffTitle": "Desactivar el proveedor de inicio de sesión",
  "signInProvider.turnOffStay": "Quien tenga la sesión iniciada la conserva hasta que termine.",
  "signInProvider.turnOffWho":
    "Después, quien no tenga contraseña ni llave de acceso no podrá iniciar sesión. Para dar una contraseña a alguien, elige «Restablecer contraseña» en sus acciones.",
  "signInProvider.turnOffYou": "Tú no tienes ninguna de las dos. Crea antes un enlace para ti.",
  "signInProvider.turnedOff": "Proveedor de inicio de sesión desactivado",
};
