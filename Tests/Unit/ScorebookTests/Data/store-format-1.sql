-- A scorebook as the last program that wrote format 1 left it, as SQLite dumps it: three games, two matches, a picture, a zone
-- “club”, one paired machine, a deletion; and three changes by plain SQL that nobody had folded.
BEGIN TRANSACTION;
CREATE TABLE SBGame (
    recordName TEXT NOT NULL PRIMARY KEY CHECK (
        recordName GLOB 'SBGame|~|?*' AND length(recordName) <= 255
        AND recordName NOT GLOB '*[^ -~]*'
        AND length(recordName) = length(CAST(recordName AS BLOB))),
    name TEXT,
    bggID INTEGER,
    year INTEGER,
    minPlayers INTEGER,
    maxPlayers INTEGER,
    highestWins INTEGER,
    noPoints INTEGER,
    cooperative INTEGER,
    usesTeams INTEGER,
    thumbnail BLOB,
    modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "SBGame" VALUES('SBGame|~|01a207ab-dd40-774a-b581-6f4237b46fc6','Catan, later',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:33.540Z');
INSERT INTO "SBGame" VALUES('SBGame|~|01a207ab-ddb1-75a0-8084-8721161844d2','Azul',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:33.651Z');
INSERT INTO "SBGame" VALUES('SBGame|~|01a207ab-e291-711c-bd95-5ac905c80430','Bridge',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:34.901Z');
INSERT INTO "SBGame" VALUES('SBGame|~|00000000-0000-4000-8000-000000000001','Go',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:42.916Z');
CREATE TABLE SBMatch (
    recordName TEXT NOT NULL PRIMARY KEY CHECK (
        recordName GLOB 'SBMatch|~|?*' AND length(recordName) <= 255
        AND recordName NOT GLOB '*[^ -~]*'
        AND length(recordName) = length(CAST(recordName AS BLOB))),
    game TEXT NOT NULL REFERENCES SBGame (recordName)
        ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    date TEXT,
    durationMinutes INTEGER,
    rounds INTEGER,
    notes TEXT,
    board TEXT,
    rating NUMERIC,
    ignored INTEGER,
    modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "SBMatch" VALUES('SBMatch|~|01a207ab-dee0-7519-a551-995cbaf4f248','SBGame|~|01a207ab-dd40-774a-b581-6f4237b46fc6','2026-11-23T09:10:33Z',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:33.954Z');
INSERT INTO "SBMatch" VALUES('SBMatch|~|01a207ab-df54-7591-ab77-7f7531f21ec1','SBGame|~|01a207ab-ddb1-75a0-8084-8721161844d2','2026-11-23T09:10:34Z',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:34.070Z');
CREATE TABLE SBMatchImage (
    recordName TEXT NOT NULL PRIMARY KEY CHECK (
        recordName GLOB 'SBMatchImage|~|?*' AND length(recordName) <= 255
        AND recordName NOT GLOB '*[^ -~]*'
        AND length(recordName) = length(CAST(recordName AS BLOB))),
    match TEXT NOT NULL REFERENCES SBMatch (recordName)
        ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    image BLOB,
    caption TEXT,
    modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "SBMatchImage" VALUES('SBMatchImage|~|01a207ab-e179-7241-bb9c-639ae1754ba4','SBMatch|~|01a207ab-df54-7591-ab77-7f7531f21ec1','{"hash":"f1f6e6a3c93e0f1622f686b3488c055ccb6e9b23a2a3c388ef4f9c867342e2a3","name":"pic.png","size":69,"type":"image/png"}',NULL,'2026-11-23T09:10:34.619Z');
CREATE TABLE SBMatchLocation (
    recordName TEXT NOT NULL PRIMARY KEY CHECK (
        recordName GLOB 'SBMatchLocation|~|?*' AND length(recordName) <= 255
        AND recordName NOT GLOB '*[^ -~]*'
        AND length(recordName) = length(CAST(recordName AS BLOB))),
    match TEXT NOT NULL REFERENCES SBMatch (recordName)
        ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    name TEXT,
    latitude REAL,
    longitude REAL,
    modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "SBMatchLocation" VALUES('SBMatchLocation|~|01a207ab-deec-76a3-a241-217197c16197','SBMatch|~|01a207ab-dee0-7519-a551-995cbaf4f248','Home',NULL,NULL,'2026-11-23T09:10:33.965Z');
INSERT INTO "SBMatchLocation" VALUES('SBMatchLocation|~|01a207ab-df59-745a-9d00-21fa7cda22c0','SBMatch|~|01a207ab-df54-7591-ab77-7f7531f21ec1','Home',NULL,NULL,'2026-11-23T09:10:34.073Z');
CREATE TABLE SBPerson (
    recordName TEXT NOT NULL PRIMARY KEY CHECK (
        recordName GLOB 'SBPerson|~|?*' AND length(recordName) <= 255
        AND recordName NOT GLOB '*[^ -~]*'
        AND length(recordName) = length(CAST(recordName AS BLOB))),
    firstName TEXT,
    lastName TEXT,
    emailAddress TEXT,
    bggUsername TEXT,
    avatar BLOB,
    modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "SBPerson" VALUES('SBPerson|~|01a207ab-dee7-7118-bedf-38d61cf26506','Ada',NULL,NULL,NULL,NULL,'2026-11-23T09:10:33.960Z');
INSERT INTO "SBPerson" VALUES('SBPerson|~|01a207ab-deeb-76a8-a402-79eb19a07f3f','Bo',NULL,NULL,NULL,NULL,'2026-11-23T09:10:33.963Z');
CREATE TABLE SBPlayer (
    recordName TEXT NOT NULL PRIMARY KEY CHECK (
        recordName GLOB 'SBPlayer|~|?*' AND length(recordName) <= 255
        AND recordName NOT GLOB '*[^ -~]*'
        AND length(recordName) = length(CAST(recordName AS BLOB))),
    match TEXT NOT NULL REFERENCES SBMatch (recordName)
        ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    person TEXT NOT NULL REFERENCES SBPerson (recordName)
        ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    seatOrder INTEGER,
    team TEXT,
    role TEXT,
    rank INTEGER,
    startPlayer INTEGER,
    newPlayer INTEGER,
    winner INTEGER,
    modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "SBPlayer" VALUES('SBPlayer|~|01a207ab-dee9-753f-abfb-278fbec7f191','SBMatch|~|01a207ab-dee0-7519-a551-995cbaf4f248','SBPerson|~|01a207ab-dee7-7118-bedf-38d61cf26506',1,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:33.962Z');
INSERT INTO "SBPlayer" VALUES('SBPlayer|~|01a207ab-deeb-76a9-b09a-e5eb0863f6b4','SBMatch|~|01a207ab-dee0-7519-a551-995cbaf4f248','SBPerson|~|01a207ab-deeb-76a8-a402-79eb19a07f3f',2,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:33.964Z');
INSERT INTO "SBPlayer" VALUES('SBPlayer|~|01a207ab-df57-708a-a2e0-63c3b7f8f188','SBMatch|~|01a207ab-df54-7591-ab77-7f7531f21ec1','SBPerson|~|01a207ab-dee7-7118-bedf-38d61cf26506',1,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:34.072Z');
INSERT INTO "SBPlayer" VALUES('SBPlayer|~|01a207ab-df59-7458-b006-1f5b2683ea64','SBMatch|~|01a207ab-df54-7591-ab77-7f7531f21ec1','SBPerson|~|01a207ab-deeb-76a8-a402-79eb19a07f3f',2,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-23T09:10:34.073Z');
CREATE TABLE SBScore (
    recordName TEXT NOT NULL PRIMARY KEY CHECK (
        recordName GLOB 'SBScore|~|?*' AND length(recordName) <= 255
        AND recordName NOT GLOB '*[^ -~]*'
        AND length(recordName) = length(CAST(recordName AS BLOB))),
    player TEXT NOT NULL REFERENCES SBPlayer (recordName)
        ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    round INTEGER,
    points NUMERIC,
    text TEXT,
    modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "SBScore" VALUES('SBScore|~|01a207ab-deec-76a2-9b18-01a6b10054b7','SBPlayer|~|01a207ab-deeb-76a9-b09a-e5eb0863f6b4',NULL,7,NULL,'2026-11-23T09:10:33.964Z');
INSERT INTO "SBScore" VALUES('SBScore|~|01a207ab-df58-761d-b845-413502f801e8','SBPlayer|~|01a207ab-df57-708a-a2e0-63c3b7f8f188',NULL,55,NULL,'2026-11-23T09:10:34.072Z');
INSERT INTO "SBScore" VALUES('SBScore|~|01a207ab-df59-7459-a94c-a0b3f7b38d03','SBPlayer|~|01a207ab-df59-7458-b006-1f5b2683ea64',NULL,61,NULL,'2026-11-23T09:10:34.073Z');
CREATE TABLE assetLeftover (
    hash BLOB NOT NULL,
    zone INTEGER NOT NULL,
    changeSequence INTEGER NOT NULL,
    since INTEGER,
    PRIMARY KEY (hash, zone)
) WITHOUT ROWID;
CREATE TABLE assetReference (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recordName TEXT NOT NULL,
    field TEXT NOT NULL,
    zone INTEGER NOT NULL REFERENCES recordZone (id),
    hash BLOB NOT NULL,
    size INTEGER NOT NULL,
    UNIQUE (recordName, field)
);
INSERT INTO "assetReference" VALUES(1,'SBMatchImage|~|01a207ab-e179-7241-bb9c-639ae1754ba4','image',1,X'F1F6E6A3C93E0F1622F686B3488C055CCB6E9B23A2A3C388EF4F9C867342E2A3',69);
CREATE TABLE assetWish (
    hash BLOB PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE capturePause (
    id INTEGER PRIMARY KEY
);
CREATE TABLE formerPeer (
    id INTEGER PRIMARY KEY,
    publicKey BLOB NOT NULL UNIQUE
);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('scorebook 1');
CREATE TABLE heldReference (
    recordName TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (recordName, target)
) WITHOUT ROWID;
CREATE TABLE pairingAttempt (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    time INTEGER NOT NULL
);
CREATE TABLE peer (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    publicKey BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    address TEXT,
    pairedAt TEXT NOT NULL,
    lastSeen TEXT,
    lastSync TEXT,
    lastError TEXT
);
INSERT INTO "peer" VALUES(1,X'0699BAF1CE2D01B4062CF5C67291F4AF3A409FE2A88B9299658915FACB1B2C54','study',NULL,'2026-11-23T09:10:39.060Z','2026-11-23T09:10:39.702Z','2026-11-23T09:10:39.697Z',NULL);
CREATE TABLE peerSession (
    peer INTEGER NOT NULL REFERENCES peer (id) ON DELETE CASCADE,
    process INTEGER NOT NULL,
    start TEXT,
    PRIMARY KEY (peer, process)
) WITHOUT ROWID;
CREATE TABLE peerZone (
    peer INTEGER NOT NULL,
    zone INTEGER NOT NULL REFERENCES recordZone (id),
    acknowledgedSequence INTEGER NOT NULL DEFAULT 0,
    receivedGeneration BLOB,
    receivedSequence INTEGER NOT NULL DEFAULT 0,
    receivedHorizon INTEGER NOT NULL DEFAULT 0,
    rights INTEGER,
    PRIMARY KEY (peer, zone)
) WITHOUT ROWID;
INSERT INTO "peerZone" VALUES(1,1,20,X'7AEA51DB4D3B5617',19,0,NULL);
CREATE TABLE pendingChange (
    id INTEGER PRIMARY KEY,
    recordName TEXT NOT NULL,
    changedColumns INTEGER NOT NULL,
    time INTEGER NOT NULL,
    recordType TEXT,
    formerValues TEXT
);
INSERT INTO "pendingChange" VALUES(1,'SBGame|~|01a207ab-dd40-774a-b581-6f4237b46fc6',32,1795425042916,'SBGame',NULL);
INSERT INTO "pendingChange" VALUES(2,'SBScore|~|01a207ab-deea-7347-aee2-fde3fa57f4d1',0,1795425042916,'SBScore','["tSBPlayer|~|01a207ab-dee9-753f-abfb-278fbec7f191","10",null,null]');
INSERT INTO "pendingChange" VALUES(3,'SBGame|~|00000000-0000-4000-8000-000000000001',-1,1795425042916,'SBGame',NULL);
CREATE TABLE recordShape (
    id INTEGER PRIMARY KEY,
    fieldNames TEXT NOT NULL UNIQUE
);
INSERT INTO "recordShape" VALUES(1,'bggID cooperative highestWins maxPlayers minPlayers name noPoints thumbnail usesTeams year');
INSERT INTO "recordShape" VALUES(2,'board date durationMinutes game ignored notes rating rounds');
INSERT INTO "recordShape" VALUES(3,'avatar bggUsername emailAddress firstName lastName');
INSERT INTO "recordShape" VALUES(4,'match newPlayer person rank role seatOrder startPlayer team winner');
INSERT INTO "recordShape" VALUES(5,'player points round text');
INSERT INTO "recordShape" VALUES(6,'latitude longitude match name');
INSERT INTO "recordShape" VALUES(7,'caption image match');
CREATE TABLE recordZone (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    zoneName TEXT NOT NULL DEFAULT 'ScorebookData',
    owner TEXT NOT NULL DEFAULT '',
    isShared INTEGER NOT NULL DEFAULT 0,
    recordCount INTEGER NOT NULL DEFAULT 0,
    digestSum BLOB NOT NULL DEFAULT (zeroblob(32)),
    purgedSequence INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "recordZone" VALUES(1,'ScorebookData','ScorebookData','e7bf17e0c690598e',1,17,X'3EDD1515C12413811D84AF8CCC0639CAD654756C262C725D7F0D3643669AF21F',0);
INSERT INTO "recordZone" VALUES(2,'club','club','f98495bcd0123024',0,1,X'FAF436602D428DA3BABD4E9DC0FC0A664C0C875CD66897C8D00F0ACA99610066',0);
CREATE TABLE refusedRecord (
    peer INTEGER NOT NULL REFERENCES peer (id) ON DELETE CASCADE,
    zone INTEGER NOT NULL,
    recordName TEXT NOT NULL,
    reason INTEGER NOT NULL,
    PRIMARY KEY (peer, zone, recordName)
) WITHOUT ROWID;
CREATE TABLE remoteRecord (
    remoteRecordID TEXT PRIMARY KEY,
    zone INTEGER NOT NULL REFERENCES recordZone (id),
    status INTEGER NOT NULL,
    changeSequence INTEGER NOT NULL,
    changeGroup INTEGER NOT NULL,
    sourcePeer INTEGER,
    remoteRecord BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "remoteRecord" VALUES('SBGame|~|01a207ab-dd40-774a-b581-6f4237b46fc6',1,0,1,1,NULL,X'01000101A207ABDD440000F98495BCD012302400FCCB80A5F0B907EFE914E03BF232F44200');
INSERT INTO "remoteRecord" VALUES('SBGame|~|01a207ab-ddb1-75a0-8084-8721161844d2',1,0,2,2,NULL,X'01000101A207ABDDB30000F98495BCD012302400E9978C379D028416FA71687AB63551B600');
INSERT INTO "remoteRecord" VALUES('SBGame|~|01a207ab-de4b-760b-8aae-a063ebc1a07f',1,1,20,20,1,X'01010101A207ABDE500000F98495BCD012302400CFFCE78311E1A2CBBFD2B510725D880101A207ABF46A0000E7BF17E0C690598E0A000001000200030004000503064865617274730600070008000900');
INSERT INTO "remoteRecord" VALUES('SBGame|~|01a207ab-e291-711c-bd95-5ac905c80430',2,0,19,19,NULL,X'01000101A207ABE2950000F98495BCD01230240049BCDC027EA36333FA8DD60D3D5376D900');
INSERT INTO "remoteRecord" VALUES('SBMatchImage|~|01a207ab-e179-7241-bb9c-639ae1754ba4',1,0,18,18,NULL,X'01000701A207ABE17B0000F98495BCD01230240026D6032A980115E5FFA98D6D37B57AF800');
INSERT INTO "remoteRecord" VALUES('SBMatchLocation|~|01a207ab-deec-76a3-a241-217197c16197',1,0,11,4,NULL,X'01000601A207ABDEED0000F98495BCD01230240089D54BDB1CBB789041141A8C14013C8B00');
INSERT INTO "remoteRecord" VALUES('SBMatchLocation|~|01a207ab-df59-745a-9d00-21fa7cda22c0',1,0,17,12,NULL,X'01000601A207ABDF590002F98495BCD012302400D4200F577FB3F484F0EC5F3156162C8700');
INSERT INTO "remoteRecord" VALUES('SBMatch|~|01a207ab-dee0-7519-a551-995cbaf4f248',1,0,4,4,NULL,X'01000201A207ABDEE20000F98495BCD012302400599ED7426995ADF66CFF920E79010A7400');
INSERT INTO "remoteRecord" VALUES('SBMatch|~|01a207ab-df54-7591-ab77-7f7531f21ec1',1,0,12,12,NULL,X'01000201A207ABDF560000F98495BCD012302400DE230876B205F32052CA490EAB03658600');
INSERT INTO "remoteRecord" VALUES('SBPerson|~|01a207ab-dee7-7118-bedf-38d61cf26506',1,0,5,4,NULL,X'01000301A207ABDEE80000F98495BCD0123024002C328D6C6BC850668B6AAA0CC24215B900');
INSERT INTO "remoteRecord" VALUES('SBPerson|~|01a207ab-deeb-76a8-a402-79eb19a07f3f',1,0,8,4,NULL,X'01000301A207ABDEEB0001F98495BCD012302400FA2F511CFA432ED634105082C244D0EE00');
INSERT INTO "remoteRecord" VALUES('SBPlayer|~|01a207ab-dee9-753f-abfb-278fbec7f191',1,0,6,4,NULL,X'01000401A207ABDEEA0000F98495BCD012302400700EC593C8710624F95DE096203407F700');
INSERT INTO "remoteRecord" VALUES('SBPlayer|~|01a207ab-deeb-76a9-b09a-e5eb0863f6b4',1,0,9,4,NULL,X'01000401A207ABDEEC0000F98495BCD0123024002080CF43C437B828DB94ED049212284C00');
INSERT INTO "remoteRecord" VALUES('SBPlayer|~|01a207ab-df57-708a-a2e0-63c3b7f8f188',1,0,13,12,NULL,X'01000401A207ABDF580000F98495BCD012302400A799AB0D71DD532E6EAC7A7652E9A63A00');
INSERT INTO "remoteRecord" VALUES('SBPlayer|~|01a207ab-df59-7458-b006-1f5b2683ea64',1,0,15,12,NULL,X'01000401A207ABDF590000F98495BCD01230240018021237DD296EC6070246993A63B0C200');
INSERT INTO "remoteRecord" VALUES('SBScore|~|01a207ab-deea-7347-aee2-fde3fa57f4d1',1,0,7,4,NULL,X'01000501A207ABDEEB0000F98495BCD012302400CC716A061043D3DDC6C01175E98C765B00');
INSERT INTO "remoteRecord" VALUES('SBScore|~|01a207ab-deec-76a2-9b18-01a6b10054b7',1,0,10,4,NULL,X'01000501A207ABDEEC0001F98495BCD012302400F854548F0E2C41E80524139E8795A7B400');
INSERT INTO "remoteRecord" VALUES('SBScore|~|01a207ab-df58-761d-b845-413502f801e8',1,0,14,12,NULL,X'01000501A207ABDF580001F98495BCD0123024009B41F3F454AE52E04DC6F8D5180746F200');
INSERT INTO "remoteRecord" VALUES('SBScore|~|01a207ab-df59-7459-a94c-a0b3f7b38d03',1,0,16,12,NULL,X'01000501A207ABDF590001F98495BCD01230240009FE38755CEB58A6B3AE9AC3BA68C0E000');
CREATE TABLE storeGeneration (
    id BLOB PRIMARY KEY,
    firstSequence INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "storeGeneration" VALUES(X'088CE06559E898DB',3);
INSERT INTO "storeGeneration" VALUES(X'10D9B88CBC5E4156',2);
INSERT INTO "storeGeneration" VALUES(X'4D1665416D4D6A2E',12);
INSERT INTO "storeGeneration" VALUES(X'51E165C2FCBB0101',19);
INSERT INTO "storeGeneration" VALUES(X'963DED5EC5AF648A',20);
INSERT INTO "storeGeneration" VALUES(X'D9E5926086104D77',18);
INSERT INTO "storeGeneration" VALUES(X'DA0C9F229BF7EF66',1);
INSERT INTO "storeGeneration" VALUES(X'EE1E472A087CD3BA',4);
CREATE TABLE syncState (
    name TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;
INSERT INTO "syncState" VALUES('captured:SBGame','bggID cooperative highestWins maxPlayers minPlayers name noPoints thumbnail usesTeams year');
INSERT INTO "syncState" VALUES('captured:SBMatch','board date durationMinutes game ignored notes rating rounds');
INSERT INTO "syncState" VALUES('captured:SBMatchImage','caption image match');
INSERT INTO "syncState" VALUES('captured:SBMatchLocation','latitude longitude match name');
INSERT INTO "syncState" VALUES('captured:SBPerson','avatar bggUsername emailAddress firstName lastName');
INSERT INTO "syncState" VALUES('captured:SBPlayer','match newPlayer person rank role seatOrder startPlayer team winner');
INSERT INTO "syncState" VALUES('captured:SBScore','player points round text');
INSERT INTO "syncState" VALUES('clock',117664975386443776);
INSERT INTO "syncState" VALUES('formatVersion',1);
INSERT INTO "syncState" VALUES('lastPurge',1795425039152);
INSERT INTO "syncState" VALUES('lastSequence',20);
INSERT INTO "syncState" VALUES('replica','f98495bcd0123024');
INSERT INTO "syncState" VALUES('settingsVersion',2);
CREATE TABLE unsyncedRecord (
    recordType TEXT NOT NULL,
    recordName NOT NULL,
    zone INTEGER,
    reason INTEGER NOT NULL,
    PRIMARY KEY (recordType, recordName)
) WITHOUT ROWID;
CREATE INDEX SBMatch_game ON SBMatch (game);
CREATE INDEX SBPlayer_match ON SBPlayer (match);
CREATE INDEX SBPlayer_person ON SBPlayer (person);
CREATE INDEX SBScore_player ON SBScore (player);
CREATE INDEX SBMatchLocation_match ON SBMatchLocation (match);
CREATE INDEX SBMatchImage_match ON SBMatchImage (match);
CREATE UNIQUE INDEX recordZoneID ON recordZone (zoneName, owner);
CREATE INDEX remoteRecordChange ON remoteRecord (zone, changeSequence, sourcePeer);
CREATE INDEX remoteRecordOffTable ON remoteRecord (zone, status) WHERE status <> 0;
CREATE INDEX heldReferenceTarget ON heldReference (target);
CREATE INDEX unsyncedRecordZone ON unsyncedRecord (zone) WHERE zone IS NOT NULL;
CREATE INDEX assetReferenceHash ON assetReference (hash);
CREATE TRIGGER SBPerson_captureInsert AFTER INSERT ON SBPerson
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
    VALUES ('SBPerson', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER));
END;
CREATE TRIGGER SBPerson_captureUpdate AFTER UPDATE OF avatar, bggUsername, emailAddress, firstName, lastName ON SBPerson
WHEN (OLD.avatar IS NOT NEW.avatar OR OLD.bggUsername IS NOT NEW.bggUsername OR OLD.emailAddress IS NOT NEW.emailAddress OR OLD.firstName IS NOT NEW.firstName OR OLD.lastName IS NOT NEW.lastName) AND NOT EXISTS (SELECT 1 FROM capturePause) AND OLD.recordName = NEW.recordName
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBPerson', NEW.recordName, ((OLD.avatar IS NOT NEW.avatar) << 0) | ((OLD.bggUsername IS NOT NEW.bggUsername) << 1) | ((OLD.emailAddress IS NOT NEW.emailAddress) << 2) | ((OLD.firstName IS NOT NEW.firstName) << 3) | ((OLD.lastName IS NOT NEW.lastName) << 4), CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBPerson_captureRename AFTER UPDATE OF recordName ON SBPerson
WHEN OLD.recordName <> NEW.recordName AND NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBPerson', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.avatar) WHEN 'text' THEN 't' || OLD.avatar WHEN 'null' THEN NULL ELSE quote(OLD.avatar) END, CASE typeof(OLD.bggUsername) WHEN 'text' THEN 't' || OLD.bggUsername WHEN 'null' THEN NULL ELSE quote(OLD.bggUsername) END, CASE typeof(OLD.emailAddress) WHEN 'text' THEN 't' || OLD.emailAddress WHEN 'null' THEN NULL ELSE quote(OLD.emailAddress) END, CASE typeof(OLD.firstName) WHEN 'text' THEN 't' || OLD.firstName WHEN 'null' THEN NULL ELSE quote(OLD.firstName) END, CASE typeof(OLD.lastName) WHEN 'text' THEN 't' || OLD.lastName WHEN 'null' THEN NULL ELSE quote(OLD.lastName) END)),
        ('SBPerson', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBPerson_captureDelete AFTER DELETE ON SBPerson
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBPerson', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.avatar) WHEN 'text' THEN 't' || OLD.avatar WHEN 'null' THEN NULL ELSE quote(OLD.avatar) END, CASE typeof(OLD.bggUsername) WHEN 'text' THEN 't' || OLD.bggUsername WHEN 'null' THEN NULL ELSE quote(OLD.bggUsername) END, CASE typeof(OLD.emailAddress) WHEN 'text' THEN 't' || OLD.emailAddress WHEN 'null' THEN NULL ELSE quote(OLD.emailAddress) END, CASE typeof(OLD.firstName) WHEN 'text' THEN 't' || OLD.firstName WHEN 'null' THEN NULL ELSE quote(OLD.firstName) END, CASE typeof(OLD.lastName) WHEN 'text' THEN 't' || OLD.lastName WHEN 'null' THEN NULL ELSE quote(OLD.lastName) END));
END;
CREATE TRIGGER SBGame_captureInsert AFTER INSERT ON SBGame
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
    VALUES ('SBGame', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER));
END;
CREATE TRIGGER SBGame_captureUpdate AFTER UPDATE OF bggID, cooperative, highestWins, maxPlayers, minPlayers, name, noPoints, thumbnail, usesTeams, year ON SBGame
WHEN (OLD.bggID IS NOT NEW.bggID OR OLD.cooperative IS NOT NEW.cooperative OR OLD.highestWins IS NOT NEW.highestWins OR OLD.maxPlayers IS NOT NEW.maxPlayers OR OLD.minPlayers IS NOT NEW.minPlayers OR OLD.name IS NOT NEW.name OR OLD.noPoints IS NOT NEW.noPoints OR OLD.thumbnail IS NOT NEW.thumbnail OR OLD.usesTeams IS NOT NEW.usesTeams OR OLD.year IS NOT NEW.year) AND NOT EXISTS (SELECT 1 FROM capturePause) AND OLD.recordName = NEW.recordName
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBGame', NEW.recordName, ((OLD.bggID IS NOT NEW.bggID) << 0) | ((OLD.cooperative IS NOT NEW.cooperative) << 1) | ((OLD.highestWins IS NOT NEW.highestWins) << 2) | ((OLD.maxPlayers IS NOT NEW.maxPlayers) << 3) | ((OLD.minPlayers IS NOT NEW.minPlayers) << 4) | ((OLD.name IS NOT NEW.name) << 5) | ((OLD.noPoints IS NOT NEW.noPoints) << 6) | ((OLD.thumbnail IS NOT NEW.thumbnail) << 7) | ((OLD.usesTeams IS NOT NEW.usesTeams) << 8) | ((OLD.year IS NOT NEW.year) << 9), CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBGame_captureRename AFTER UPDATE OF recordName ON SBGame
WHEN OLD.recordName <> NEW.recordName AND NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBGame', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.bggID) WHEN 'text' THEN 't' || OLD.bggID WHEN 'null' THEN NULL ELSE quote(OLD.bggID) END, CASE typeof(OLD.cooperative) WHEN 'text' THEN 't' || OLD.cooperative WHEN 'null' THEN NULL ELSE quote(OLD.cooperative) END, CASE typeof(OLD.highestWins) WHEN 'text' THEN 't' || OLD.highestWins WHEN 'null' THEN NULL ELSE quote(OLD.highestWins) END, CASE typeof(OLD.maxPlayers) WHEN 'text' THEN 't' || OLD.maxPlayers WHEN 'null' THEN NULL ELSE quote(OLD.maxPlayers) END, CASE typeof(OLD.minPlayers) WHEN 'text' THEN 't' || OLD.minPlayers WHEN 'null' THEN NULL ELSE quote(OLD.minPlayers) END, CASE typeof(OLD.name) WHEN 'text' THEN 't' || OLD.name WHEN 'null' THEN NULL ELSE quote(OLD.name) END, CASE typeof(OLD.noPoints) WHEN 'text' THEN 't' || OLD.noPoints WHEN 'null' THEN NULL ELSE quote(OLD.noPoints) END, CASE typeof(OLD.thumbnail) WHEN 'text' THEN 't' || OLD.thumbnail WHEN 'null' THEN NULL ELSE quote(OLD.thumbnail) END, CASE typeof(OLD.usesTeams) WHEN 'text' THEN 't' || OLD.usesTeams WHEN 'null' THEN NULL ELSE quote(OLD.usesTeams) END, CASE typeof(OLD.year) WHEN 'text' THEN 't' || OLD.year WHEN 'null' THEN NULL ELSE quote(OLD.year) END)),
        ('SBGame', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBGame_captureDelete AFTER DELETE ON SBGame
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBGame', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.bggID) WHEN 'text' THEN 't' || OLD.bggID WHEN 'null' THEN NULL ELSE quote(OLD.bggID) END, CASE typeof(OLD.cooperative) WHEN 'text' THEN 't' || OLD.cooperative WHEN 'null' THEN NULL ELSE quote(OLD.cooperative) END, CASE typeof(OLD.highestWins) WHEN 'text' THEN 't' || OLD.highestWins WHEN 'null' THEN NULL ELSE quote(OLD.highestWins) END, CASE typeof(OLD.maxPlayers) WHEN 'text' THEN 't' || OLD.maxPlayers WHEN 'null' THEN NULL ELSE quote(OLD.maxPlayers) END, CASE typeof(OLD.minPlayers) WHEN 'text' THEN 't' || OLD.minPlayers WHEN 'null' THEN NULL ELSE quote(OLD.minPlayers) END, CASE typeof(OLD.name) WHEN 'text' THEN 't' || OLD.name WHEN 'null' THEN NULL ELSE quote(OLD.name) END, CASE typeof(OLD.noPoints) WHEN 'text' THEN 't' || OLD.noPoints WHEN 'null' THEN NULL ELSE quote(OLD.noPoints) END, CASE typeof(OLD.thumbnail) WHEN 'text' THEN 't' || OLD.thumbnail WHEN 'null' THEN NULL ELSE quote(OLD.thumbnail) END, CASE typeof(OLD.usesTeams) WHEN 'text' THEN 't' || OLD.usesTeams WHEN 'null' THEN NULL ELSE quote(OLD.usesTeams) END, CASE typeof(OLD.year) WHEN 'text' THEN 't' || OLD.year WHEN 'null' THEN NULL ELSE quote(OLD.year) END));
END;
CREATE TRIGGER SBMatch_captureInsert AFTER INSERT ON SBMatch
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
    VALUES ('SBMatch', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER));
END;
CREATE TRIGGER SBMatch_captureUpdate AFTER UPDATE OF board, date, durationMinutes, game, ignored, notes, rating, rounds ON SBMatch
WHEN (OLD.board IS NOT NEW.board OR OLD.date IS NOT NEW.date OR OLD.durationMinutes IS NOT NEW.durationMinutes OR OLD.game IS NOT NEW.game OR OLD.ignored IS NOT NEW.ignored OR OLD.notes IS NOT NEW.notes OR OLD.rating IS NOT NEW.rating OR OLD.rounds IS NOT NEW.rounds) AND NOT EXISTS (SELECT 1 FROM capturePause) AND OLD.recordName = NEW.recordName
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatch', NEW.recordName, ((OLD.board IS NOT NEW.board) << 0) | ((OLD.date IS NOT NEW.date) << 1) | ((OLD.durationMinutes IS NOT NEW.durationMinutes) << 2) | ((OLD.game IS NOT NEW.game) << 3) | ((OLD.ignored IS NOT NEW.ignored) << 4) | ((OLD.notes IS NOT NEW.notes) << 5) | ((OLD.rating IS NOT NEW.rating) << 6) | ((OLD.rounds IS NOT NEW.rounds) << 7), CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBMatch_captureRename AFTER UPDATE OF recordName ON SBMatch
WHEN OLD.recordName <> NEW.recordName AND NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatch', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.board) WHEN 'text' THEN 't' || OLD.board WHEN 'null' THEN NULL ELSE quote(OLD.board) END, CASE typeof(OLD.date) WHEN 'text' THEN 't' || OLD.date WHEN 'null' THEN NULL ELSE quote(OLD.date) END, CASE typeof(OLD.durationMinutes) WHEN 'text' THEN 't' || OLD.durationMinutes WHEN 'null' THEN NULL ELSE quote(OLD.durationMinutes) END, CASE typeof(OLD.game) WHEN 'text' THEN 't' || OLD.game WHEN 'null' THEN NULL ELSE quote(OLD.game) END, CASE typeof(OLD.ignored) WHEN 'text' THEN 't' || OLD.ignored WHEN 'null' THEN NULL ELSE quote(OLD.ignored) END, CASE typeof(OLD.notes) WHEN 'text' THEN 't' || OLD.notes WHEN 'null' THEN NULL ELSE quote(OLD.notes) END, CASE typeof(OLD.rating) WHEN 'text' THEN 't' || OLD.rating WHEN 'null' THEN NULL ELSE quote(OLD.rating) END, CASE typeof(OLD.rounds) WHEN 'text' THEN 't' || OLD.rounds WHEN 'null' THEN NULL ELSE quote(OLD.rounds) END)),
        ('SBMatch', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBMatch_captureDelete AFTER DELETE ON SBMatch
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatch', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.board) WHEN 'text' THEN 't' || OLD.board WHEN 'null' THEN NULL ELSE quote(OLD.board) END, CASE typeof(OLD.date) WHEN 'text' THEN 't' || OLD.date WHEN 'null' THEN NULL ELSE quote(OLD.date) END, CASE typeof(OLD.durationMinutes) WHEN 'text' THEN 't' || OLD.durationMinutes WHEN 'null' THEN NULL ELSE quote(OLD.durationMinutes) END, CASE typeof(OLD.game) WHEN 'text' THEN 't' || OLD.game WHEN 'null' THEN NULL ELSE quote(OLD.game) END, CASE typeof(OLD.ignored) WHEN 'text' THEN 't' || OLD.ignored WHEN 'null' THEN NULL ELSE quote(OLD.ignored) END, CASE typeof(OLD.notes) WHEN 'text' THEN 't' || OLD.notes WHEN 'null' THEN NULL ELSE quote(OLD.notes) END, CASE typeof(OLD.rating) WHEN 'text' THEN 't' || OLD.rating WHEN 'null' THEN NULL ELSE quote(OLD.rating) END, CASE typeof(OLD.rounds) WHEN 'text' THEN 't' || OLD.rounds WHEN 'null' THEN NULL ELSE quote(OLD.rounds) END));
END;
CREATE TRIGGER SBPlayer_captureInsert AFTER INSERT ON SBPlayer
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
    VALUES ('SBPlayer', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER));
END;
CREATE TRIGGER SBPlayer_captureUpdate AFTER UPDATE OF match, newPlayer, person, rank, role, seatOrder, startPlayer, team, winner ON SBPlayer
WHEN (OLD.match IS NOT NEW.match OR OLD.newPlayer IS NOT NEW.newPlayer OR OLD.person IS NOT NEW.person OR OLD.rank IS NOT NEW.rank OR OLD.role IS NOT NEW.role OR OLD.seatOrder IS NOT NEW.seatOrder OR OLD.startPlayer IS NOT NEW.startPlayer OR OLD.team IS NOT NEW.team OR OLD.winner IS NOT NEW.winner) AND NOT EXISTS (SELECT 1 FROM capturePause) AND OLD.recordName = NEW.recordName
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBPlayer', NEW.recordName, ((OLD.match IS NOT NEW.match) << 0) | ((OLD.newPlayer IS NOT NEW.newPlayer) << 1) | ((OLD.person IS NOT NEW.person) << 2) | ((OLD.rank IS NOT NEW.rank) << 3) | ((OLD.role IS NOT NEW.role) << 4) | ((OLD.seatOrder IS NOT NEW.seatOrder) << 5) | ((OLD.startPlayer IS NOT NEW.startPlayer) << 6) | ((OLD.team IS NOT NEW.team) << 7) | ((OLD.winner IS NOT NEW.winner) << 8), CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBPlayer_captureRename AFTER UPDATE OF recordName ON SBPlayer
WHEN OLD.recordName <> NEW.recordName AND NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBPlayer', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.match) WHEN 'text' THEN 't' || OLD.match WHEN 'null' THEN NULL ELSE quote(OLD.match) END, CASE typeof(OLD.newPlayer) WHEN 'text' THEN 't' || OLD.newPlayer WHEN 'null' THEN NULL ELSE quote(OLD.newPlayer) END, CASE typeof(OLD.person) WHEN 'text' THEN 't' || OLD.person WHEN 'null' THEN NULL ELSE quote(OLD.person) END, CASE typeof(OLD.rank) WHEN 'text' THEN 't' || OLD.rank WHEN 'null' THEN NULL ELSE quote(OLD.rank) END, CASE typeof(OLD.role) WHEN 'text' THEN 't' || OLD.role WHEN 'null' THEN NULL ELSE quote(OLD.role) END, CASE typeof(OLD.seatOrder) WHEN 'text' THEN 't' || OLD.seatOrder WHEN 'null' THEN NULL ELSE quote(OLD.seatOrder) END, CASE typeof(OLD.startPlayer) WHEN 'text' THEN 't' || OLD.startPlayer WHEN 'null' THEN NULL ELSE quote(OLD.startPlayer) END, CASE typeof(OLD.team) WHEN 'text' THEN 't' || OLD.team WHEN 'null' THEN NULL ELSE quote(OLD.team) END, CASE typeof(OLD.winner) WHEN 'text' THEN 't' || OLD.winner WHEN 'null' THEN NULL ELSE quote(OLD.winner) END)),
        ('SBPlayer', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBPlayer_captureDelete AFTER DELETE ON SBPlayer
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBPlayer', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.match) WHEN 'text' THEN 't' || OLD.match WHEN 'null' THEN NULL ELSE quote(OLD.match) END, CASE typeof(OLD.newPlayer) WHEN 'text' THEN 't' || OLD.newPlayer WHEN 'null' THEN NULL ELSE quote(OLD.newPlayer) END, CASE typeof(OLD.person) WHEN 'text' THEN 't' || OLD.person WHEN 'null' THEN NULL ELSE quote(OLD.person) END, CASE typeof(OLD.rank) WHEN 'text' THEN 't' || OLD.rank WHEN 'null' THEN NULL ELSE quote(OLD.rank) END, CASE typeof(OLD.role) WHEN 'text' THEN 't' || OLD.role WHEN 'null' THEN NULL ELSE quote(OLD.role) END, CASE typeof(OLD.seatOrder) WHEN 'text' THEN 't' || OLD.seatOrder WHEN 'null' THEN NULL ELSE quote(OLD.seatOrder) END, CASE typeof(OLD.startPlayer) WHEN 'text' THEN 't' || OLD.startPlayer WHEN 'null' THEN NULL ELSE quote(OLD.startPlayer) END, CASE typeof(OLD.team) WHEN 'text' THEN 't' || OLD.team WHEN 'null' THEN NULL ELSE quote(OLD.team) END, CASE typeof(OLD.winner) WHEN 'text' THEN 't' || OLD.winner WHEN 'null' THEN NULL ELSE quote(OLD.winner) END));
END;
CREATE TRIGGER SBScore_captureInsert AFTER INSERT ON SBScore
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
    VALUES ('SBScore', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER));
END;
CREATE TRIGGER SBScore_captureUpdate AFTER UPDATE OF player, points, round, text ON SBScore
WHEN (OLD.player IS NOT NEW.player OR OLD.points IS NOT NEW.points OR OLD.round IS NOT NEW.round OR OLD.text IS NOT NEW.text) AND NOT EXISTS (SELECT 1 FROM capturePause) AND OLD.recordName = NEW.recordName
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBScore', NEW.recordName, ((OLD.player IS NOT NEW.player) << 0) | ((OLD.points IS NOT NEW.points) << 1) | ((OLD.round IS NOT NEW.round) << 2) | ((OLD.text IS NOT NEW.text) << 3), CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBScore_captureRename AFTER UPDATE OF recordName ON SBScore
WHEN OLD.recordName <> NEW.recordName AND NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBScore', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.player) WHEN 'text' THEN 't' || OLD.player WHEN 'null' THEN NULL ELSE quote(OLD.player) END, CASE typeof(OLD.points) WHEN 'text' THEN 't' || OLD.points WHEN 'null' THEN NULL ELSE quote(OLD.points) END, CASE typeof(OLD.round) WHEN 'text' THEN 't' || OLD.round WHEN 'null' THEN NULL ELSE quote(OLD.round) END, CASE typeof(OLD.text) WHEN 'text' THEN 't' || OLD.text WHEN 'null' THEN NULL ELSE quote(OLD.text) END)),
        ('SBScore', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBScore_captureDelete AFTER DELETE ON SBScore
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBScore', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.player) WHEN 'text' THEN 't' || OLD.player WHEN 'null' THEN NULL ELSE quote(OLD.player) END, CASE typeof(OLD.points) WHEN 'text' THEN 't' || OLD.points WHEN 'null' THEN NULL ELSE quote(OLD.points) END, CASE typeof(OLD.round) WHEN 'text' THEN 't' || OLD.round WHEN 'null' THEN NULL ELSE quote(OLD.round) END, CASE typeof(OLD.text) WHEN 'text' THEN 't' || OLD.text WHEN 'null' THEN NULL ELSE quote(OLD.text) END));
END;
CREATE TRIGGER SBMatchLocation_captureInsert AFTER INSERT ON SBMatchLocation
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
    VALUES ('SBMatchLocation', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER));
END;
CREATE TRIGGER SBMatchLocation_captureUpdate AFTER UPDATE OF latitude, longitude, match, name ON SBMatchLocation
WHEN (OLD.latitude IS NOT NEW.latitude OR OLD.longitude IS NOT NEW.longitude OR OLD.match IS NOT NEW.match OR OLD.name IS NOT NEW.name) AND NOT EXISTS (SELECT 1 FROM capturePause) AND OLD.recordName = NEW.recordName
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatchLocation', NEW.recordName, ((OLD.latitude IS NOT NEW.latitude) << 0) | ((OLD.longitude IS NOT NEW.longitude) << 1) | ((OLD.match IS NOT NEW.match) << 2) | ((OLD.name IS NOT NEW.name) << 3), CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBMatchLocation_captureRename AFTER UPDATE OF recordName ON SBMatchLocation
WHEN OLD.recordName <> NEW.recordName AND NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatchLocation', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.latitude) WHEN 'text' THEN 't' || OLD.latitude WHEN 'null' THEN NULL ELSE quote(OLD.latitude) END, CASE typeof(OLD.longitude) WHEN 'text' THEN 't' || OLD.longitude WHEN 'null' THEN NULL ELSE quote(OLD.longitude) END, CASE typeof(OLD.match) WHEN 'text' THEN 't' || OLD.match WHEN 'null' THEN NULL ELSE quote(OLD.match) END, CASE typeof(OLD.name) WHEN 'text' THEN 't' || OLD.name WHEN 'null' THEN NULL ELSE quote(OLD.name) END)),
        ('SBMatchLocation', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBMatchLocation_captureDelete AFTER DELETE ON SBMatchLocation
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatchLocation', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.latitude) WHEN 'text' THEN 't' || OLD.latitude WHEN 'null' THEN NULL ELSE quote(OLD.latitude) END, CASE typeof(OLD.longitude) WHEN 'text' THEN 't' || OLD.longitude WHEN 'null' THEN NULL ELSE quote(OLD.longitude) END, CASE typeof(OLD.match) WHEN 'text' THEN 't' || OLD.match WHEN 'null' THEN NULL ELSE quote(OLD.match) END, CASE typeof(OLD.name) WHEN 'text' THEN 't' || OLD.name WHEN 'null' THEN NULL ELSE quote(OLD.name) END));
END;
CREATE TRIGGER SBMatchImage_captureInsert AFTER INSERT ON SBMatchImage
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
    VALUES ('SBMatchImage', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER));
END;
CREATE TRIGGER SBMatchImage_captureUpdate AFTER UPDATE OF caption, image, match ON SBMatchImage
WHEN (OLD.caption IS NOT NEW.caption OR OLD.image IS NOT NEW.image OR OLD.match IS NOT NEW.match) AND NOT EXISTS (SELECT 1 FROM capturePause) AND OLD.recordName = NEW.recordName
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatchImage', NEW.recordName, ((OLD.caption IS NOT NEW.caption) << 0) | ((OLD.image IS NOT NEW.image) << 1) | ((OLD.match IS NOT NEW.match) << 2), CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBMatchImage_captureRename AFTER UPDATE OF recordName ON SBMatchImage
WHEN OLD.recordName <> NEW.recordName AND NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatchImage', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.caption) WHEN 'text' THEN 't' || OLD.caption WHEN 'null' THEN NULL ELSE quote(OLD.caption) END, CASE typeof(OLD.image) WHEN 'text' THEN 't' || OLD.image WHEN 'null' THEN NULL ELSE quote(OLD.image) END, CASE typeof(OLD.match) WHEN 'text' THEN 't' || OLD.match WHEN 'null' THEN NULL ELSE quote(OLD.match) END)),
        ('SBMatchImage', NEW.recordName, -1, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), NULL);
END;
CREATE TRIGGER SBMatchImage_captureDelete AFTER DELETE ON SBMatchImage
WHEN NOT EXISTS (SELECT 1 FROM capturePause)
BEGIN
    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
    VALUES ('SBMatchImage', OLD.recordName, 0, CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), json_array(CASE typeof(OLD.caption) WHEN 'text' THEN 't' || OLD.caption WHEN 'null' THEN NULL ELSE quote(OLD.caption) END, CASE typeof(OLD.image) WHEN 'text' THEN 't' || OLD.image WHEN 'null' THEN NULL ELSE quote(OLD.image) END, CASE typeof(OLD.match) WHEN 'text' THEN 't' || OLD.match WHEN 'null' THEN NULL ELSE quote(OLD.match) END));
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('assetReference',1);
INSERT INTO "sqlite_sequence" VALUES('peer',1);
COMMIT;
