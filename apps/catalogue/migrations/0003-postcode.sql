-- Coordinates of a postcode of a country.
create table postcode (
  -- Normalized: upper-case letters and digits only.
  postcode_key text collate "C" not null,
  -- ISO 3166-1 alpha-2.
  country      text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  -- In the format of its country.
  postcode     text not null,
  -- Degrees.
  latitude     float8 not null check (latitude between -90 and 90),
  longitude    float8 not null check (longitude between -180 and 180),
  primary key (postcode_key, country)
);

-- A sample: centres of well-known locations, rounded to a hundredth of a degree, compiled for this
-- project under its licence (Apache-2.0). The import of a country replaces its rows.
insert into postcode (postcode_key, country, postcode, latitude, longitude)
select sample.postcode, sample.country, sample.postcode, sample.latitude, sample.longitude
from (values
  ('NL', '1011', 52.37, 4.90), -- Amsterdam
  ('NL', '1012', 52.37, 4.89), -- Amsterdam
  ('NL', '1017', 52.36, 4.89), -- Amsterdam
  ('NL', '1071', 52.36, 4.88), -- Amsterdam
  ('NL', '1211', 52.22, 5.18), -- Hilversum
  ('NL', '1315', 52.37, 5.22), -- Almere
  ('NL', '1621', 52.64, 5.06), -- Hoorn
  ('NL', '1781', 52.96, 4.76), -- Den Helder
  ('NL', '1811', 52.63, 4.75), -- Alkmaar
  ('NL', '2011', 52.38, 4.64), -- Haarlem
  ('NL', '2042', 52.37, 4.53), -- Zandvoort
  ('NL', '2311', 52.16, 4.49), -- Leiden
  ('NL', '2511', 52.08, 4.31), -- Den Haag
  ('NL', '2611', 52.01, 4.36), -- Delft
  ('NL', '2801', 52.01, 4.71), -- Gouda
  ('NL', '3011', 51.92, 4.49), -- Rotterdam
  ('NL', '3111', 51.92, 4.40), -- Schiedam
  ('NL', '3311', 51.81, 4.67), -- Dordrecht
  ('NL', '3511', 52.09, 5.12), -- Utrecht
  ('NL', '3811', 52.16, 5.39), -- Amersfoort
  ('NL', '3901', 52.03, 5.56), -- Veenendaal
  ('NL', '4331', 51.50, 3.61), -- Middelburg
  ('NL', '4611', 51.49, 4.29), -- Bergen op Zoom
  ('NL', '4701', 51.53, 4.46), -- Roosendaal
  ('NL', '4811', 51.59, 4.78), -- Breda
  ('NL', '5038', 51.56, 5.08), -- Tilburg
  ('NL', '5211', 51.69, 5.30), -- 's-Hertogenbosch
  ('NL', '5611', 51.44, 5.48), -- Eindhoven
  ('NL', '5911', 51.37, 6.17), -- Venlo
  ('NL', '6041', 51.19, 5.99), -- Roermond
  ('NL', '6211', 50.85, 5.69), -- Maastricht
  ('NL', '6411', 50.89, 5.98), -- Heerlen
  ('NL', '6511', 51.85, 5.86), -- Nijmegen
  ('NL', '6811', 51.98, 5.91), -- Arnhem
  ('NL', '7001', 51.96, 6.29), -- Doetinchem
  ('NL', '7311', 52.21, 5.96), -- Apeldoorn
  ('NL', '7411', 52.25, 6.16), -- Deventer
  ('NL', '7511', 52.22, 6.89), -- Enschede
  ('NL', '7811', 52.79, 6.90), -- Emmen
  ('NL', '8011', 52.51, 6.09), -- Zwolle
  ('NL', '8232', 52.51, 5.47), -- Lelystad
  ('NL', '8601', 53.03, 5.66), -- Sneek
  ('NL', '8911', 53.20, 5.79), -- Leeuwarden
  ('NL', '9401', 53.00, 6.56), -- Assen
  ('NL', '9711', 53.22, 6.57), -- Groningen
  ('DE', '01067', 51.06, 13.72), -- Dresden
  ('DE', '04109', 51.34, 12.37), -- Leipzig
  ('DE', '07743', 50.93, 11.59), -- Jena
  ('DE', '09111', 50.83, 12.92), -- Chemnitz
  ('DE', '10115', 52.53, 13.38), -- Berlin
  ('DE', '10117', 52.52, 13.39), -- Berlin
  ('DE', '10178', 52.52, 13.41), -- Berlin
  ('DE', '14467', 52.40, 13.06), -- Potsdam
  ('DE', '18055', 54.09, 12.14), -- Rostock
  ('DE', '19053', 53.63, 11.41), -- Schwerin
  ('DE', '20095', 53.55, 10.00), -- Hamburg
  ('DE', '20354', 53.56, 9.99), -- Hamburg
  ('DE', '23552', 53.87, 10.69), -- Lübeck
  ('DE', '24103', 54.32, 10.13), -- Kiel
  ('DE', '26122', 53.14, 8.21), -- Oldenburg
  ('DE', '28195', 53.08, 8.81), -- Bremen
  ('DE', '30159', 52.37, 9.74), -- Hannover
  ('DE', '33602', 52.02, 8.53), -- Bielefeld
  ('DE', '34117', 51.31, 9.50), -- Kassel
  ('DE', '38100', 52.26, 10.52), -- Braunschweig
  ('DE', '39104', 52.13, 11.63), -- Magdeburg
  ('DE', '40213', 51.23, 6.77), -- Düsseldorf
  ('DE', '42103', 51.26, 7.15), -- Wuppertal
  ('DE', '44135', 51.51, 7.47), -- Dortmund
  ('DE', '44787', 51.48, 7.22), -- Bochum
  ('DE', '45127', 51.46, 7.01), -- Essen
  ('DE', '47051', 51.43, 6.76), -- Duisburg
  ('DE', '48143', 51.96, 7.63), -- Münster
  ('DE', '49074', 52.28, 8.05), -- Osnabrück
  ('DE', '50667', 50.94, 6.96), -- Köln
  ('DE', '52062', 50.77, 6.09), -- Aachen
  ('DE', '53111', 50.74, 7.09), -- Bonn
  ('DE', '54290', 49.75, 6.64), -- Trier
  ('DE', '55116', 50.00, 8.27), -- Mainz
  ('DE', '56068', 50.36, 7.60), -- Koblenz
  ('DE', '60311', 50.11, 8.68), -- Frankfurt am Main
  ('DE', '65183', 50.08, 8.24), -- Wiesbaden
  ('DE', '66111', 49.24, 6.99), -- Saarbrücken
  ('DE', '68159', 49.49, 8.46), -- Mannheim
  ('DE', '69117', 49.41, 8.71), -- Heidelberg
  ('DE', '70173', 48.78, 9.18), -- Stuttgart
  ('DE', '76133', 49.01, 8.39), -- Karlsruhe
  ('DE', '78462', 47.66, 9.17), -- Konstanz
  ('DE', '79098', 47.99, 7.85), -- Freiburg
  ('DE', '80331', 48.14, 11.57), -- München
  ('DE', '80539', 48.15, 11.58), -- München
  ('DE', '86150', 48.37, 10.89), -- Augsburg
  ('DE', '89073', 48.40, 9.99), -- Ulm
  ('DE', '90402', 49.45, 11.08), -- Nürnberg
  ('DE', '93047', 49.02, 12.10), -- Regensburg
  ('DE', '97070', 49.79, 9.93), -- Würzburg
  ('DE', '99084', 50.98, 11.03), -- Erfurt
  ('GB', 'AB10', 57.14, -2.11), -- Aberdeen
  ('GB', 'B1', 52.48, -1.91), -- Birmingham
  ('GB', 'B2', 52.48, -1.90), -- Birmingham
  ('GB', 'BA1', 51.39, -2.36), -- Bath
  ('GB', 'BD1', 53.79, -1.75), -- Bradford
  ('GB', 'BL1', 53.59, -2.43), -- Bolton
  ('GB', 'BN1', 50.83, -0.14), -- Brighton
  ('GB', 'BS1', 51.45, -2.59), -- Bristol
  ('GB', 'BT1', 54.60, -5.93), -- Belfast
  ('GB', 'CB1', 52.20, 0.14), -- Cambridge
  ('GB', 'CF10', 51.48, -3.18), -- Cardiff
  ('GB', 'CT1', 51.28, 1.08), -- Canterbury
  ('GB', 'CV1', 52.41, -1.51), -- Coventry
  ('GB', 'DD1', 56.46, -2.97), -- Dundee
  ('GB', 'DE1', 52.92, -1.48), -- Derby
  ('GB', 'DN1', 53.52, -1.13), -- Doncaster
  ('GB', 'E1', 51.52, -0.06), -- London
  ('GB', 'EC1A', 51.52, -0.10), -- London
  ('GB', 'EH1', 55.95, -3.19), -- Edinburgh
  ('GB', 'EX1', 50.73, -3.51), -- Exeter
  ('GB', 'G1', 55.86, -4.25), -- Glasgow
  ('GB', 'HU1', 53.74, -0.33), -- Hull
  ('GB', 'IP1', 52.06, 1.15), -- Ipswich
  ('GB', 'L1', 53.40, -2.98), -- Liverpool
  ('GB', 'LE1', 52.64, -1.13), -- Leicester
  ('GB', 'LS1', 53.80, -1.55), -- Leeds
  ('GB', 'M1', 53.48, -2.23), -- Manchester
  ('GB', 'M2', 53.48, -2.24), -- Manchester
  ('GB', 'N1', 51.54, -0.10), -- London
  ('GB', 'NE1', 54.97, -1.61), -- Newcastle upon Tyne
  ('GB', 'NG1', 52.95, -1.15), -- Nottingham
  ('GB', 'NP20', 51.58, -3.00), -- Newport
  ('GB', 'NR1', 52.62, 1.31), -- Norwich
  ('GB', 'NW1', 51.53, -0.14), -- London
  ('GB', 'OX1', 51.75, -1.26), -- Oxford
  ('GB', 'PL1', 50.37, -4.15), -- Plymouth
  ('GB', 'PO1', 50.80, -1.09), -- Portsmouth
  ('GB', 'PR1', 53.76, -2.70), -- Preston
  ('GB', 'RG1', 51.45, -0.97), -- Reading
  ('GB', 'S1', 53.38, -1.47), -- Sheffield
  ('GB', 'SA1', 51.62, -3.93), -- Swansea
  ('GB', 'SE1', 51.50, -0.09), -- London
  ('GB', 'SE10', 51.48, 0.00), -- London
  ('GB', 'SL4', 51.48, -0.62), -- Windsor
  ('GB', 'SO14', 50.90, -1.40), -- Southampton
  ('GB', 'SR1', 54.91, -1.38), -- Sunderland
  ('GB', 'ST1', 53.02, -2.18), -- Stoke-on-Trent
  ('GB', 'SW1A', 51.50, -0.13), -- London
  ('GB', 'TS1', 54.57, -1.24), -- Middlesbrough
  ('GB', 'W1D', 51.51, -0.13), -- London
  ('GB', 'WC2N', 51.51, -0.12), -- London
  ('GB', 'WV1', 52.59, -2.12), -- Wolverhampton
  ('GB', 'YO1', 53.96, -1.08), -- York
  ('US', '02108', 42.36, -71.07), -- Boston
  ('US', '02139', 42.36, -71.10), -- Cambridge
  ('US', '10001', 40.75, -74.00), -- New York
  ('US', '10007', 40.71, -74.01), -- New York
  ('US', '10022', 40.76, -73.97), -- New York
  ('US', '11201', 40.69, -73.99), -- Brooklyn
  ('US', '15222', 40.45, -79.99), -- Pittsburgh
  ('US', '19103', 39.95, -75.17), -- Philadelphia
  ('US', '20001', 38.91, -77.02), -- Washington
  ('US', '20500', 38.90, -77.04), -- Washington
  ('US', '21201', 39.29, -76.62), -- Baltimore
  ('US', '28202', 35.23, -80.84), -- Charlotte
  ('US', '30303', 33.75, -84.39), -- Atlanta
  ('US', '32202', 30.33, -81.65), -- Jacksonville
  ('US', '33130', 25.77, -80.20), -- Miami
  ('US', '33602', 27.95, -82.46), -- Tampa
  ('US', '37203', 36.15, -86.79), -- Nashville
  ('US', '38103', 35.15, -90.05), -- Memphis
  ('US', '40202', 38.25, -85.75), -- Louisville
  ('US', '43215', 39.97, -83.00), -- Columbus
  ('US', '44114', 41.51, -81.68), -- Cleveland
  ('US', '45202', 39.11, -84.50), -- Cincinnati
  ('US', '46204', 39.77, -86.16), -- Indianapolis
  ('US', '48226', 42.33, -83.05), -- Detroit
  ('US', '53202', 43.05, -87.90), -- Milwaukee
  ('US', '55401', 44.98, -93.27), -- Minneapolis
  ('US', '60601', 41.89, -87.62), -- Chicago
  ('US', '60611', 41.89, -87.62), -- Chicago
  ('US', '63101', 38.63, -90.19), -- St. Louis
  ('US', '70112', 29.96, -90.08), -- New Orleans
  ('US', '73102', 35.47, -97.52), -- Oklahoma City
  ('US', '75201', 32.79, -96.80), -- Dallas
  ('US', '77002', 29.76, -95.37), -- Houston
  ('US', '78205', 29.42, -98.49), -- San Antonio
  ('US', '78701', 30.27, -97.74), -- Austin
  ('US', '80202', 39.75, -105.00), -- Denver
  ('US', '83702', 43.63, -116.20), -- Boise
  ('US', '84101', 40.76, -111.90), -- Salt Lake City
  ('US', '85004', 33.45, -112.07), -- Phoenix
  ('US', '85701', 32.22, -110.97), -- Tucson
  ('US', '87102', 35.08, -106.65), -- Albuquerque
  ('US', '89101', 36.17, -115.12), -- Las Vegas
  ('US', '90001', 33.97, -118.25), -- Los Angeles
  ('US', '90012', 34.06, -118.24), -- Los Angeles
  ('US', '90210', 34.09, -118.41), -- Beverly Hills
  ('US', '92101', 32.72, -117.17), -- San Diego
  ('US', '93721', 36.73, -119.78), -- Fresno
  ('US', '94043', 37.41, -122.08), -- Mountain View
  ('US', '94102', 37.78, -122.42), -- San Francisco
  ('US', '94103', 37.77, -122.41), -- San Francisco
  ('US', '94301', 37.44, -122.15), -- Palo Alto
  ('US', '95014', 37.32, -122.05), -- Cupertino
  ('US', '95814', 38.58, -121.49), -- Sacramento
  ('US', '96813', 21.31, -157.86), -- Honolulu
  ('US', '97201', 45.50, -122.69), -- Portland
  ('US', '97204', 45.52, -122.68), -- Portland
  ('US', '98052', 47.68, -122.12), -- Redmond
  ('US', '98101', 47.61, -122.33), -- Seattle
  ('US', '98109', 47.63, -122.35), -- Seattle
  ('US', '99501', 61.22, -149.88), -- Anchorage
  ('FR', '06000', 43.70, 7.27), -- Nice
  ('FR', '06400', 43.55, 7.02), -- Cannes
  ('FR', '13001', 43.30, 5.38), -- Marseille
  ('FR', '14000', 49.18, -0.37), -- Caen
  ('FR', '17000', 46.16, -1.15), -- La Rochelle
  ('FR', '20000', 41.92, 8.74), -- Ajaccio
  ('FR', '21000', 47.32, 5.04), -- Dijon
  ('FR', '25000', 47.24, 6.02), -- Besançon
  ('FR', '29200', 48.39, -4.49), -- Brest
  ('FR', '30000', 43.84, 4.36), -- Nîmes
  ('FR', '31000', 43.60, 1.44), -- Toulouse
  ('FR', '33000', 44.84, -0.58), -- Bordeaux
  ('FR', '34000', 43.61, 3.88), -- Montpellier
  ('FR', '35000', 48.11, -1.68), -- Rennes
  ('FR', '37000', 47.39, 0.69), -- Tours
  ('FR', '38000', 45.19, 5.72), -- Grenoble
  ('FR', '42000', 45.44, 4.39), -- Saint-Étienne
  ('FR', '44000', 47.22, -1.55), -- Nantes
  ('FR', '45000', 47.90, 1.90), -- Orléans
  ('FR', '49000', 47.47, -0.55), -- Angers
  ('FR', '51100', 49.26, 4.03), -- Reims
  ('FR', '54000', 48.69, 6.18), -- Nancy
  ('FR', '57000', 49.12, 6.18), -- Metz
  ('FR', '59000', 50.63, 3.06), -- Lille
  ('FR', '63000', 45.78, 3.08), -- Clermont-Ferrand
  ('FR', '64000', 43.30, -0.37), -- Pau
  ('FR', '66000', 42.69, 2.90), -- Perpignan
  ('FR', '67000', 48.58, 7.75), -- Strasbourg
  ('FR', '68100', 47.75, 7.34), -- Mulhouse
  ('FR', '69001', 45.77, 4.83), -- Lyon
  ('FR', '69002', 45.75, 4.83), -- Lyon
  ('FR', '73000', 45.57, 5.92), -- Chambéry
  ('FR', '74000', 45.90, 6.13), -- Annecy
  ('FR', '75001', 48.86, 2.34), -- Paris
  ('FR', '75002', 48.87, 2.34), -- Paris
  ('FR', '75003', 48.86, 2.36), -- Paris
  ('FR', '75004', 48.85, 2.36), -- Paris
  ('FR', '75005', 48.84, 2.35), -- Paris
  ('FR', '75006', 48.85, 2.33), -- Paris
  ('FR', '75007', 48.86, 2.31), -- Paris
  ('FR', '75008', 48.87, 2.31), -- Paris
  ('FR', '75009', 48.88, 2.34), -- Paris
  ('FR', '75010', 48.88, 2.36), -- Paris
  ('FR', '75011', 48.86, 2.38), -- Paris
  ('FR', '75013', 48.83, 2.36), -- Paris
  ('FR', '75014', 48.83, 2.33), -- Paris
  ('FR', '75015', 48.84, 2.30), -- Paris
  ('FR', '75018', 48.89, 2.34), -- Paris
  ('FR', '75020', 48.86, 2.40), -- Paris
  ('FR', '76000', 49.44, 1.10), -- Rouen
  ('FR', '76600', 49.49, 0.11), -- Le Havre
  ('FR', '78000', 48.80, 2.13), -- Versailles
  ('FR', '80000', 49.89, 2.30), -- Amiens
  ('FR', '83000', 43.12, 5.93), -- Toulon
  ('FR', '84000', 43.95, 4.81), -- Avignon
  ('FR', '86000', 46.58, 0.34), -- Poitiers
  ('FR', '87000', 45.83, 1.26) -- Limoges
) as sample (country, postcode, latitude, longitude);
